/* Runs that need tuples which were spilled: told, to be finished by who has them. */
#ifndef CULPRIT_LIB_ADVICE_DEFER_H
#define CULPRIT_LIB_ADVICE_DEFER_H

#include "lib/advice/vm.h"

/* Whether something of the slot was spilled. */
static inline bool bag_reads_spilled(const struct bag *b, uint32_t slot)
{
	if (!(b->flags & BAG_HAS_SPILLED))
		return false;
	for (const struct bag_entry *e = bag_next(b, slot, NULL); e; e = bag_next(b, slot, e))
		if (e->kind == BAG_SPILLED)
			return true;
	return false;
}

/* True where the run was told, or counted as one that could not be; as advice_run. */
bool advice_defer_slow(const struct advice_program *p, const struct advice_value *inputs,
		       struct bag *bag, struct bag_writer *w, uint64_t time,
		       struct advice_out *out);

static inline bool advice_defer(const struct advice_program *p, const struct advice_value *inputs,
				struct bag *bag, struct bag_writer *w, uint64_t time,
				struct advice_out *out)
{
	return p->nr_children && __builtin_expect(bag->flags & BAG_HAS_SPILLED, 0) &&
	       advice_defer_slow(p, inputs, bag, w, time, out);
}

#endif
