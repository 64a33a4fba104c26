/*
 * A bag: the tuples that travel with a request through threads and processes that we entered.
 *
 * Freestanding: no library, no memory but its own, no state but the bag. Its bytes are its wire
 * form (little endian), so that handing it over is a copy.
 *
 * Every entry has a writer: one thread while it has one bag. Only the writer changes its entries,
 * and each change gives it a higher order; who gets a copy writes under a name of its own. So a
 * join takes of each entry the higher order, and is idempotent, commutative and associative; what
 * a branch packs is not seen by another before they join.
 *
 * Entries that find no room are spilled (lib/advice/spill.h): told to who watches under an id, and
 * one entry with that id, which has no tuples of its own, stands for them.
 *
 * The order is a hybrid clock: the time, or one more than all that the bag has of the slot,
 * whichever is higher. What happened later has a higher order; of what happened side by side, the
 * earlier time comes first.
 */
#ifndef CULPRIT_LIB_ADVICE_BAG_H
#define CULPRIT_LIB_ADVICE_BAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BAG_BYTES 8192u
#define BAG_LOST 10 /* slots that are known to be incomplete; beyond: all are */

enum bag_kind { BAG_ITEM_ALL, BAG_ITEM_FIRST, BAG_ITEM_RECENT, BAG_GROUP, BAG_SPILLED, BAG_ITEMS };

/* In words of 8 bytes, one behind another. An item is what one event packed: nr tuples, maybe none;
 * a group is one tuple that stands for equal ones. Items are those that one writer packed one after
 * another, where all are kept: one entry that grows, and has the order of the first. What was
 * spilled is a head: its id is the writer, the order is the highest of what it stands for, nr is
 * how many items that is at the least. */
struct bag_entry {
	uint32_t slot;
	uint16_t words; /* with this head */
	uint8_t kind;
	uint8_t nr_key_words; /* of a group: the words behind the weight that name it */
	uint16_t at_most;     /* of FIRST and RECENT */
	uint16_t nr;          /* tuples */
	uint32_t change;      /* the writer's so many-th */
	uint64_t writer;
	uint64_t order;
};
#define BAG_HEAD_WORDS (sizeof(struct bag_entry) / 8)

#define BAG_MAGIC 0x3167u
#define BAG_ALL_LOST 1u
#define BAG_PROMISED 2u    /* a part of it has not come yet: see promise.h */
#define BAG_HAS_SPILLED 4u /* there is, or was, an entry of BAG_SPILLED */

struct bag {
	uint16_t magic, flags;
	uint16_t words; /* of entries; 0: empty */
	uint16_t nr_lost;
	uint64_t order; /* rises with every change */
	uint32_t lost[BAG_LOST];
	uint64_t entries[(BAG_BYTES - 16 - 4 * BAG_LOST) / 8];
};
#define BAG_WORDS (sizeof(((struct bag *)0)->entries) / 8)

/* Who writes: one for each thread. Zero is not valid; see bag_writer_begin. */
struct bag_writer {
	uint64_t thread; /* unique among all threads of all hosts: a hash, its low 20 bits are 0 */
	uint64_t id;     /* thread and epoch: what entries are named by */
	uint64_t last;   /* changes under that name */
	uint64_t spill;  /* what the id of the next spill is made of */
};

/* thread: a hash of host, process, its start, and thread id; the low 20 bits are not used. */
void bag_writer_begin(struct bag_writer *w, uint64_t thread);
/* Another name, if anything may have seen the one it has. */
void bag_writer_anew(struct bag_writer *w);

void bag_begin(struct bag *b);
static inline bool bag_is_empty(const struct bag *b)
{
	return !b->words && !b->nr_lost && !(b->flags & BAG_ALL_LOST);
}
/* Empties it: a request begins. The writer gets another name. */
void bag_clear(struct bag *b, struct bag_writer *w);
/* A copy for a thread that begins, or of what came with a message: in its place. The writer gets
 * another name, unless all that it wrote last is in there. */
void bag_adopt(struct bag *to, const struct bag *from, struct bag_writer *w);
/* All that either has. What finds no room is marked as lost. */
void bag_join(struct bag *to, const struct bag *from);
/* The same; what finds no room is spilled, by the writer of to. */
struct bag_spill;
void bag_join_spilling(struct bag *to, const struct bag *from, struct bag_writer *w,
		       struct bag_spill *s);

/* Bytes that say all; 0 when there is nothing to say. They are those at the front of the bag. */
static inline size_t bag_bytes(const struct bag *b)
{
	return bag_is_empty(b) ? 0 : offsetof(struct bag, entries) + 8 * (size_t)b->words;
}
/* How many bytes were written; 0 for an empty bag; -1 where they find no room. */
long bag_serialize(const struct bag *b, void *to, size_t room);
/* Bytes of a stranger: false, and an empty bag, where they make no sense. */
bool bag_deserialize(struct bag *b, const void *bytes, size_t nr);
/* The same where they lie: whether these, and no more, are the front of a bag, which may be read as
 * one then. */
bool bag_front_is_sound(struct bag *front, size_t nr);

/* Whether words of a stranger are entries. */
bool bag_entries_make_sense(const uint64_t *words, size_t nr);

/* From the front, so that they can be moved down; never a call of a library. */
void bag_copy_words(uint64_t *to, const uint64_t *from, size_t nr);

/* --- for the program that runs --------------------------------------------------------------- */

/* A tuple that is being packed: words behind a head, not in the bag before it is committed. */
struct bag_pending {
	struct bag_entry *entry; /* or NULL */
	uint32_t room;           /* words that the bag may have */
	bool is_full;
};

/* The first and the next entry of a slot; NULL: no more. */
const struct bag_entry *bag_next(const struct bag *b, uint32_t slot, const struct bag_entry *after);
bool bag_has_lost(const struct bag *b, uint32_t slot);
void bag_lose(struct bag *b, uint32_t slot);
/* How many items there are of a slot, at the least. */
size_t bag_count(const struct bag *b, uint32_t slot);
/* The highest order of a slot. */
uint64_t bag_last(const struct bag *b, uint32_t slot);
/* All entries of a slot go. */
void bag_cut_slot(struct bag *b, uint32_t slot);
/* Begins an item behind all entries; words are added to it, and then it is part of the bag. Of
 * FIRST and RECENT only at_most are kept. */
void bag_item_begin(struct bag *b, struct bag_pending *p, const struct bag_entry *head);
/* The same, in a bag that may have no more than so many words. */
void bag_item_begin_within(struct bag *b, struct bag_pending *p, const struct bag_entry *head,
			   uint32_t room);
uint64_t *bag_item_words(struct bag *b, struct bag_pending *p, size_t nr);
/* False, and the slot is marked as lost, where it found no room. */
bool bag_item_commit(struct bag *b, struct bag_pending *p, struct bag_writer *w, uint64_t time);
/* The writer changes its entry now, which gets a higher order than after. */
void bag_change(struct bag *b, struct bag_entry *e, struct bag_writer *w, uint64_t time,
		uint64_t after);

#endif
