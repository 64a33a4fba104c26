/*
 * Parts of a bag that have not come yet: what came with bytes of a connection from another host is
 * known to the agent there, which hands it over to the agent here. Until then the bag says which
 * bytes those were.
 *
 * A promise is an entry like others, so that it goes wherever the bag goes. What reads a bag with
 * promises (UNPACK) has to wait; what packs does not. Its order is higher than that of all that the
 * bag had before, and lower than that of what is packed afterwards.
 */
#ifndef CULPRIT_LIB_ADVICE_PROMISE_H
#define CULPRIT_LIB_ADVICE_PROMISE_H

#include "lib/advice/bag.h"

#define BAG_SLOT_PROMISE UINT32_MAX
#define BAG_PROMISES 32 /* of one bag; beyond, something of it is lost */

struct bag_promise {
	uint64_t key;      /* the stream */
	uint64_t from, to; /* its bytes */
	uint64_t began;    /* when the connection did, ns; 0: that was not seen */
};

#define BAG_PROMISE_WORDS (BAG_HEAD_WORDS + sizeof(struct bag_promise) / 8)

static inline bool bag_is_promised(const struct bag *b)
{
	return b->flags & BAG_PROMISED;
}

/* Adds one; one of the same stream and beginning goes on instead. False where there is no room:
 * then the bag says that it is incomplete. */
bool bag_promise(struct bag *b, struct bag_writer *w, const struct bag_promise *p, uint64_t time);
/* The first and the next one; NULL: no more. */
const struct bag_entry *bag_promise_next(const struct bag *b, const struct bag_entry *after,
					 struct bag_promise *p);
/* Takes the earliest one out, with its order; false: there is none. */
bool bag_promise_take(struct bag *b, struct bag_promise *p, uint64_t *order);
/* What came with the bytes of a promise of that order: all that was packed after it happened later.
 */
void bag_promise_keep(struct bag *b, uint64_t order, const struct bag *came);

#endif
