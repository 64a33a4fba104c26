/* The answers of a hub's queries, and its agents' health, for Prometheus: /metrics on an address of
 * its own (culprit hub --queries --metrics). */
#ifndef CULPRIT_CLI_LIVE_METRICS_H
#define CULPRIT_CLI_LIVE_METRICS_H

struct error;
struct live_metrics;

/* endpoint: of the hub; keys: of an operator, or NULL. The page is there as well. */
int live_metrics_start(struct live_metrics **m, const char *listen, const char *endpoint,
		       const char *keys, struct error *err);
void live_metrics_stop(struct live_metrics *m);

#endif
