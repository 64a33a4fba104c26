/* Compares the calls of a hop with like calls: those that call the same themselves are a stratum.
 * So the time that a hop takes is told apart from how often it is called and what it has to do. */
#ifndef CULPRIT_ASK_STRATA_H
#define CULPRIT_ASK_STRATA_H

#include "ask/breakdown.h"

enum contrast_side { SIDE_BASE, SIDE_OTHER, SIDES }; /* normal and slow; before and after */

struct stratum {
	uint32_t hop, next;  /* next: another stratum of the hop, or HOP_NONE */
	uint64_t calls_what; /* equal for calls that call the same */
	uint64_t nr[SIDES];
	double own[SIDES], ns[SIDES]; /* by themselves; on the critical path */
	double sure[SIDES];           /* of each call: that it made just these calls */
};

/* Zero is empty. */
struct strata {
	VEC(struct stratum) v;
	VEC(uint32_t) first; /* by hop; HOP_NONE or the first of its strata */
	VEC(uint32_t) count; /* by hop: strata */
	VEC(uint32_t) slots; /* open addressing over v, 0 = free, else position + 1 */
};

void strata_done(struct strata *s);
/* Adds the request that was split last. */
void strata_add(struct strata *s, struct breakdown *split, const struct hops *hops,
		enum contrast_side side, const struct request_body *body);

/* How a hop changed. Effects are in ns of the mean request and add up to the difference of what the
 * hop has of the critical path. */
struct strata_change {
	double own[SIDES];   /* ns of a call; of a changed mix, as if it had not changed */
	double calls[SIDES]; /* of a request */
	double time, mix;    /* effects: of what calls take; of how many there are of which kind */
	double confidence;   /* how sure it is on average what a call called */
	bool mixed;          /* the numbers of calls differ by more than chance */
};

/* nr: requests of both sides. A hop without calls of its own has changed by nothing. */
void strata_change(const struct strata *s, uint32_t hop, const uint64_t *nr,
		   struct strata_change *out);

#endif
