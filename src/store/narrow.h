/* The requests that the walks of an open run see: all, or a selection, a bit for each. */
#ifndef CULPRIT_STORE_NARROW_H
#define CULPRIT_STORE_NARROW_H

#include "base/vec.h"
#include "store/catalog.h"
#include "store/sampled.h"
#include "store/store.h"
#include "store/wanted.h"

/* Zero is all of them. */
struct narrow {
	bool is_on;
	struct wanted wanted;
	bool is_plain;                  /* that is all: no node, no duration */
	VEC(uint8_t) bits;              /* by id; none where all from first to last are in it */
	uint64_t first, last;           /* ids that are in it */
	uint64_t nr;                    /* of requests that are in it */
	bool is_summed;                 /* the next two are known */
	uint64_t nr_spans;              /* of these */
	VEC(struct catalog_type) types; /* of these, the most frequent first */
	uint64_t sample;                /* bodies that a walk reads, about; 0: all */
	uint64_t nr_unread;             /* that were left out so */
	struct sampled sampled;         /* those that were read */
};

void narrow_done(struct narrow *n);
/* Sees to it that spans and types are known. */
int narrow_sum(struct store *s, struct error *err);

static inline bool narrow_has(const struct narrow *n, uint64_t id)
{
	if (!n->is_on)
		return true;
	return n->bits.nr ? id / 8 < n->bits.nr && n->bits.v[id / 8] >> id % 8 & 1
			  : n->nr && id >= n->first && id <= n->last;
}

#endif
