/* What a hub tells an operator, kept for the page and for Prometheus: standing queries, their
 * answers, agents and hubs. A thread of its own talks to the hub, and tries again where it is away.
 */
#ifndef CULPRIT_CLI_LIVE_FEED_H
#define CULPRIT_CLI_LIVE_FEED_H

#include "query/live_explain.h"

struct error;
struct live_feed;
struct live_hub;

struct live_feed_options {
	const char *endpoint;
	const char *keys;        /* a file of an operator's; NULL: none */
	struct live_known known; /* what new queries may use; lives as long as the feed */
};

int live_feed_start(struct live_feed **f, const struct live_feed_options *o, struct error *err);
void live_feed_stop(struct live_feed *f);
/* For the page; lives as long as the feed. */
const struct live_hub *live_feed_hub(const struct live_feed *f);

#endif
