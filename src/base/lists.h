/* Interns lists of numbers: each distinct one is kept once and travels as a small number. */
#ifndef CULPRIT_BASE_LISTS_H
#define CULPRIT_BASE_LISTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

/* Zero is a valid, empty table. */
struct lists {
	VEC(uint32_t) v;    /* of all lists, one after another */
	VEC(uint32_t) at;   /* of each list: where it begins; one more */
	VEC(uint32_t) hash; /* of each list */
	uint32_t *slots;    /* open addressing: 1 + the list, 0 = free */
	uint32_t nr, nr_slots;
};

void lists_done(struct lists *t);
/* The number of the list, from 0 on, made on first sight. */
uint32_t lists_add(struct lists *t, const uint32_t *v, size_t nr);

static inline uint32_t lists_length(const struct lists *t, uint32_t list)
{
	return t->at.v[list + 1] - t->at.v[list];
}

/* Valid until the next lists_add. */
static inline const uint32_t *lists_of(const struct lists *t, uint32_t list)
{
	return t->v.v + t->at.v[list];
}

#endif
