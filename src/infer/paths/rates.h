/* What usually follows what, and after how long: kinds of calls after kinds of events, or by
 * themselves. */
#ifndef CULPRIT_INFER_PATHS_RATES_H
#define CULPRIT_INFER_PATHS_RATES_H

#include <stdbool.h>
#include <stdint.h>

enum { RATE_BINS = 224, RATE_KINDS = 24, RATE_CALLEES = 16 };

/* Something that a node saw and that can make it call somebody. */
struct cause {
	int64_t ns;
	uint32_t kind;
	uint32_t call; /* whose end it is, as a position in the window */
};

/* A call to be explained by causes[first] up to causes[last], all of them before it. */
struct effect {
	int64_t ns;
	uint32_t call;
	uint32_t callee;
	uint32_t first, last; /* last is exclusive */
};

struct rates {
	float (*after)[RATE_CALLEES][RATE_BINS]; /* by kind: calls a second after an event */
	float alone[RATE_CALLEES];               /* calls a second that nothing caused */
	bool is_regular[RATE_CALLEES];           /* the causes explain these calls */
};

void rates_init(struct rates *r);
void rates_done(struct rates *r);
/* Learns from these effects, in the order of time, which had so many seconds to come about. */
void rates_learn(struct rates *r, const struct cause *causes, const struct effect *effects,
		 uint32_t nr, double seconds);
/* The likeliest cause, and how likely it is; UINT32_MAX when most likely there is none. used[cause]
 * has a bit for each callee that it called already. */
uint32_t rates_cause(const struct rates *r, const struct cause *causes, const struct effect *e,
		     uint16_t *used, float *sure);

#endif
