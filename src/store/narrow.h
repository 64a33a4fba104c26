/* The requests that the walks of an open run see: all, or a selection, a bit for each. */
#ifndef CULPRIT_STORE_NARROW_H
#define CULPRIT_STORE_NARROW_H

#include "base/vec.h"
#include "store/catalog.h"
#include "store/store.h"

/* Zero is all of them. */
struct narrow {
	bool is_on;
	VEC(uint8_t) bits;              /* by id */
	uint64_t first, last;           /* ids that are in it */
	uint64_t nr, nr_spans;          /* of requests that are in it, of their spans */
	VEC(struct catalog_type) types; /* of these, the most frequent first */
	uint64_t sample;                /* bodies that a walk reads, about; 0: all */
	uint64_t nr_unread;             /* that were left out so */
};

void narrow_done(struct narrow *n);

static inline bool narrow_has(const struct narrow *n, uint64_t id)
{
	return !n->is_on || (id / 8 < n->bits.nr && n->bits.v[id / 8] >> id % 8 & 1);
}

#endif
