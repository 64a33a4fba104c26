#include "cli/live_metrics.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "cli/address.h"
#include "cli/live_feed.h"
#include "cli/tracepoint_files.h"
#include "web/runs.h"
#include "web/web.h"

#define PORT 9464 /* of exporters for Prometheus, by OpenTelemetry's custom */

struct live_metrics {
	char host[256];
	struct tracepoint_files points;
	struct live_feed *feed;
	struct runs *runs; /* none */
	struct web *web;
};

static int start(struct live_metrics *m, const char *listen, struct live_feed_options *o,
		 struct error *err)
{
	struct web_options web = { .port = PORT, .version = CULPRIT_VERSION };
	int r = address_take("metrics", listen, m->host, sizeof(m->host), &web.port, err);

	if (r >= 0)
		r = tracepoint_files_list(&m->points, NULL, err);
	o->known = (struct live_known){ m->points.v.v, m->points.v.nr };
	if (r >= 0)
		r = live_feed_start(&m->feed, o, err);
	if (r < 0)
		return r;
	web.host = m->host[0] ? m->host : NULL;
	web.live = live_feed_hub(m->feed);
	return web_start(&m->web, &web, m->runs, err);
}

int live_metrics_start(struct live_metrics **made, const char *listen, const char *endpoint,
		       const char *keys, struct error *err)
{
	struct live_metrics *m = mem_zalloc(sizeof(*m));
	struct live_feed_options o = { .endpoint = endpoint, .keys = keys };
	int r;

	m->runs = runs_new();
	r = start(m, listen, &o, err);
	if (r < 0)
		live_metrics_stop(m);
	else
		*made = m;
	return r;
}

void live_metrics_stop(struct live_metrics *m)
{
	if (!m)
		return;
	web_stop(m->web);
	live_feed_stop(m->feed);
	runs_free(m->runs);
	tracepoint_files_done(&m->points);
	free(m);
}
