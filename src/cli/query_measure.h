/* How often each stage of a query would run: counted for a while, by queries that count. */
#ifndef CULPRIT_CLI_QUERY_MEASURE_H
#define CULPRIT_CLI_QUERY_MEASURE_H

struct call;
struct error;
struct live_known;
struct plan;

/* In a second, by stage; at a hub, or in the processes that the call names. */
int query_measure(const struct call *call, const struct live_known *known, const struct plan *plan,
		  double *per_second, struct error *err);

#endif
