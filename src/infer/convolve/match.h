/* Pairs causes with effects that come the right time after them, each at most once. */
#ifndef CULPRIT_INFER_CONVOLVE_MATCH_H
#define CULPRIT_INFER_CONVOLVE_MATCH_H

#include "infer/convolve/traffic.h"

struct match {
	uint32_t cause, effect; /* messages */
	float confidence;       /* 0..1: against the other pairs that either could be in */
};

struct delay_window {
	int64_t low, high; /* ns, both included; never negative */
};

/* Reused from call to call; zero is ready. */
struct matcher {
	VEC(struct match) v;      /* in order of the cause */
	double mean, spread;      /* ns: of the delays of v, and their standard deviation */
	struct delay_window core; /* where the delays of v are, without what is far off */

	struct pair *pairs;
	size_t nr_pairs, room;
	VEC(uint32_t) order, chosen, counts; /* of pairs: by distance, and those that are matches */
	VEC(double) delays;
	VEC(int64_t) free_ns; /* when the effects without a place were sent */
	VEC(double) cause_weight, effect_weight;
	VEC(uint8_t) cause_used, effect_used;
};

/* How many pairs of a cause and a free effect the window has, against windows beside it. */
struct evidence {
	double pairs, noise; /* noise: the median of those beside */
	double sigmas;       /* how far pairs stand above it */
};

void matcher_done(struct matcher *m);
/* Causes in order of time; effects are the messages of the route that have no place yet. */
struct evidence matcher_weigh(struct matcher *m, const struct traffic *t, const uint32_t *causes,
			      size_t nr_causes, const struct route *to, struct delay_window window);
/* At most so many pairs. With idle_first a cause that has no effect yet goes before one that has.
 */
void matcher_run(struct matcher *m, const struct traffic *t, const uint32_t *causes,
		 size_t nr_causes, const struct route *to, struct delay_window window, size_t most,
		 bool idle_first);

#endif
