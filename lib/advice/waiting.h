/*
 * Packing that waits: advice that packs what it reads of a bag with promises (promise.h) cannot do
 * so yet. The bag gets an entry instead with all that is needed to do it later: which advice, its
 * inputs, and what of the bag it would have read.
 */
#ifndef CULPRIT_LIB_ADVICE_WAITING_H
#define CULPRIT_LIB_ADVICE_WAITING_H

#include "lib/advice/promise.h"
#include "lib/advice/value.h"
#include "wire/advice.h"

#define BAG_SLOT_WAITING (UINT32_MAX - 1)

/* One that was taken out of a bag. */
struct bag_waiting {
	uint32_t query, which, slot;
	uint64_t time, writer, order;
	uint64_t inputs; /* bits of those that are set below */
	struct advice_value values[ADVICE_INPUTS];
	struct bag seen;           /* what it would have read; may have promises itself */
	uint64_t words[BAG_WORDS]; /* that texts are borrowed from */
};

/* which: of the query's. False where there is no room: then its slot is marked as lost. */
bool bag_wait(struct bag *b, struct bag_writer *w, const struct advice_program *p, uint32_t which,
	      const struct advice_value *inputs, uint64_t time);
/* Takes the earliest one out; false: there is none. One that makes no sense has query 0. */
bool bag_waiting_take(struct bag *b, struct bag_waiting *w);

#endif
