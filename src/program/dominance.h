/* Which blocks of a method are passed on every way to another, and which are passed again and
 * again. */
#ifndef CULPRIT_PROGRAM_DOMINANCE_H
#define CULPRIT_PROGRAM_DOMINANCE_H

#include "program/flow.h"

struct dominance {
	const struct flow *flow;
	uint32_t *above; /* by block: the nearest block that dominates it */
};

void dominance_init(struct dominance *d, const struct flow *f, struct arena *a);
bool dominance_holds(const struct dominance *d, uint32_t above, uint32_t block);
/* Whether one can go from the block back to itself without passing avoid (NO_BLOCK for none). */
bool flow_returns(const struct flow *f, uint32_t block, uint32_t avoid);

#endif
