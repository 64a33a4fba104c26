/* What is inside a feed: what its thread knows of the hub (live_feed.c) and the page asks for
 * (live_feed_page.c).
 */
#ifndef CULPRIT_CLI_LIVE_FEED_OWN_H
#define CULPRIT_CLI_LIVE_FEED_OWN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "cli/live_feed.h"
#include "model/live.h"
#include "model/loss.h"
#include "query/plan.h"
#include "web/live.h"

struct bus_keys;
struct bus_operator;
struct history;

/* Why an agent does not run a query. */
struct failing {
	struct str agent, sentence;
};

struct watched_query {
	uint64_t id;
	char name[24]; /* the id, as it is shown */
	struct arena arena;
	struct str text, who;
	struct history *history;
	uint32_t nr_agents;
	uint64_t nr_rows, nr_reports;
	struct losses losses; /* as the hub counts them, which knows more than results tell */
	VEC(struct failing) failing;
	bool is_listed, is_watched, has_whole;
};

/* What the page wants done; done by the thread, since the hub is talked to by nobody else. */
enum order_kind { ORDER_INSTALL, ORDER_REMOVE, ORDER_MEASURE };

struct order {
	enum order_kind kind;
	struct str text;          /* of a query that is installed or measured */
	uint64_t id;              /* of one that is to go, or that was installed */
	const struct plan *plan;  /* that is measured, … */
	uint64_t ids[STAGES_MAX]; /* … by a query for each stage, … */
	double per_second[STAGES_MAX];
	size_t nr_ids;
	int64_t until; /* … up to here (time_tick); 0: it has not begun */
	int got;
	struct error err;
	bool is_done;
};

struct live_feed {
	struct live_feed_options options;
	struct bus_keys *keys;
	struct bus_operator *hub; /* of the thread alone */
	int64_t away_tick;        /* since when it does not answer; 0: it does */
	struct live_hub face;
	pthread_t thread;
	atomic_bool is_over;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t changed;
	VEC(struct watched_query *) queries;
	VEC(struct live_peer) peers;
	struct arena of_peers;
	struct order *order;
	char why[512]; /* the hub does not answer; empty: it does */
};

/* What the page calls. */
struct live_hub live_feed_face(struct live_feed *f);

#endif
