/* What one stage packs in one execution, and which of it is behind each event: the baggage of a
 * join. */
#ifndef CULPRIT_QUERY_SLOT_H
#define CULPRIT_QUERY_SLOT_H

#include "base/lists.h"
#include "query/plan.h"
#include "query/sets.h"
#include "query/total.h"

struct range {
	uint32_t first, nr;
};

struct slot {
	const struct stage *stage;
	/* Tuples by number: as many values and halves as the stage packs, and how many equal ones
	 * one stands for. */
	VEC(struct value) values;
	VEC(struct total) halves;
	VEC(uint64_t) weights;
	VEC(struct range) items; /* of each event that packed, in order: its tuples */
	struct sets sets;        /* of items: TAKE_ALL */
	struct lists lists;      /* of items: several of FIRST and RECENT */
	VEC(struct range) made;  /* of parts of sets: all their tuples, equal ones put together */
	VEC(uint32_t) unpacked;  /* tuples that the event at hand sees */
	/* What an event sees is one number: 0 nothing; a set; 1 + an item; 1 + a list. */
	VEC(uint32_t) behind; /* by place in the execution: what those after it see */
	const struct names *names;
};

void slot_reset(struct slot *s);
void slot_done(struct slot *s);
/* What two branches see when they join. */
uint32_t slot_join(struct slot *s, uint32_t a, uint32_t b);
/* One more item, the last one so far. */
uint32_t slot_pack(struct slot *s, uint32_t seen, uint32_t item);
/* Fills unpacked. */
void slot_unpack(struct slot *s, uint32_t seen);

#endif
