/* What units of work name, and what owns it. */
#ifndef CULPRIT_INFER_REQUESTS_HOLD_H
#define CULPRIT_INFER_REQUESTS_HOLD_H

#include "infer/requests/beside.h"
#include "infer/requests/sight.h"
#include "infer/requests/work.h"

/* Whether a kind of names says who calls. */
enum caller {
	CALLER_NONE,  /* it is no compound, or part of something */
	CALLER_MAYBE, /* nothing shows what it is part of */
	CALLER_SURE,  /* some are known to all, as no part is */
};

struct owners {
	struct beside of;    /* thing and kind: 1 + what of that kind owns it */
	struct map renamed;  /* path: what it is called now */
	struct map kinds;    /* two kinds: the second owns the first */
	uint8_t *caller;     /* of each kind: enum caller */
	VEC(uint64_t) pairs; /* those kinds, in order: all owners of a kind stand together */
};

/* Finds hubs that only the units show. */
void weigh_units(struct work *w);
/* Fills held of every unit. */
void find_owners(struct work *w, struct owners *o);
void owners_done(struct owners *o);
/* Where the owners of a kind begin among the pairs. */
size_t hold_owners_at(const struct owners *o, uint32_t fine);
/* What of that kind owns the thing; 0: nothing. */
uint32_t hold_owner_of(const struct owners *o, uint32_t thing, uint32_t kind);
bool hold_is_owner(const struct owners *o, uint32_t fine, uint32_t coarse);
/* blk#1 and blk#2: parts of one compound. */
bool hold_same_stem(const struct work *w, uint32_t a, uint32_t b);

#endif
