/* All that is odd in a run, the most time lost first: stopped, dead and slow nodes, slow ways,
 * retries, warnings, requests that stop midway, courses never seen before, counts that change. */
#ifndef CULPRIT_ASK_ANOMALIES_H
#define CULPRIT_ASK_ANOMALIES_H

#include "ask/anomaly.h"
#include "base/arena.h"

struct error;
struct request_filter;
struct store;
struct types;

/* Zero is empty. */
struct anomalies {
	struct arena arena; /* owns the strings */
	VEC(struct anomaly) v;
	double slowness;      /* ns that requests beyond 1.5 times their median took beyond it */
	uint64_t nr_left_out; /* pieces of work that were not compared, as there were too many */
};

/* types: those of the same filter. Two passes over the run: events, then bodies. */
int anomalies_collect(struct anomalies *a, struct store *s, const struct types *types,
		      const struct request_filter *f, struct error *err);
void anomalies_done(struct anomalies *a);
/* What of all slowness it explains, 0..1. */
double anomalies_share(const struct anomalies *a, const struct anomaly *one);

#endif
