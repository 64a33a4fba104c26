/*
 * Spilling: entries that a bag has no room for are told to who watches, and the bag carries their
 * id (wire/spill.h). Freestanding, as bags are.
 *
 * What is told holds entries as they were, and ids of what was spilled before them: whoever has all
 * records of an id has what an endless bag would have had.
 */
#ifndef CULPRIT_LIB_ADVICE_SPILL_H
#define CULPRIT_LIB_ADVICE_SPILL_H

#include "lib/advice/bag.h"
#include "wire/spill.h"

/* Where records go: filled by the caller. */
struct bag_spill {
	void *to;
	/* Room for a record of at most so many words, which nobody sees before its end is told;
	 * NULL: there is none. */
	uint64_t *(*begin)(void *to, size_t nr);
	void (*end)(void *to, size_t nr);
	uint32_t room; /* words of entries that a bag may have: BAG_WORDS, or less */
};

/* Entries of one slot on their way, in as many records as they take. */
struct spilling {
	struct bag_spill *s;
	struct bag_writer *w;
	uint64_t *record; /* that is being written, or NULL */
	size_t nr;        /* words of it */
	uint32_t slot;
	bool is_failed;
	uint64_t id;    /* of the last whole record: it leads to all before; 0: none */
	uint64_t order; /* the highest */
};

void spilling_begin(struct spilling *x, uint32_t slot, struct bag_writer *w, struct bag_spill *s);
/* Room for so many words; NULL: there is none, and all of it has failed. */
uint64_t *spilling_words(struct spilling *x, size_t nr);
/* False where it has failed. */
bool spilling_end(struct spilling *x);

/* An id that nobody else has. */
uint64_t spill_id(struct bag_writer *w);
/* Puts what stands for a spill into the bag, making room; nr: items that it has at the least.
 * False: there is no room even for that. */
bool bag_put_spilled(struct bag *b, const struct spilling *x, size_t nr);

/* All of a slot. False: nobody takes it, and all is as before. */
bool bag_spill_slot(struct bag *b, uint32_t slot, struct bag_writer *w, struct bag_spill *s);
/* The largest slots, until there is room for so many words. */
bool bag_make_room(struct bag *b, size_t words, struct bag_writer *w, struct bag_spill *s);
/* An entry that is not in the bag. */
bool bag_spill_entry(struct bag *b, const struct bag_entry *e, struct bag_writer *w,
		     struct bag_spill *s);

#endif
