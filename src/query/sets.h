/*
 * Sets of numbers that share what they have in common: each distinct set, and each distinct part of
 * one, is kept once and travels as a small number. So the pasts of all events of an execution, each
 * a little larger than that of the event before it, take near-linear room and time.
 *
 * A part covers 64 numbers (a mask), or twice as many as its two halves. Joining remembers what it
 * joined, as decision diagrams do.
 */
#ifndef CULPRIT_QUERY_SETS_H
#define CULPRIT_QUERY_SETS_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct set_part {
	uint64_t mask; /* level 0 */
	uint32_t a, b; /* level 0: which 64 numbers; above: halves, 0 for an empty one */
	uint32_t level;
	uint32_t made; /* whatever the user knows of it; 0 at first */
};

struct set_joined {
	uint32_t a, b, both;
	uint32_t epoch; /* when that was */
};

/* Zero is valid and has the empty set only, which is number 0. */
struct sets {
	VEC(struct set_part) parts; /* from 1 on; the first is not used */
	uint32_t *slots;
	struct set_joined *joined;
	size_t nr_slots;
	uint32_t epoch; /* how often all was forgotten */
};

void sets_done(struct sets *s);
/* Forgets all sets. */
void sets_reset(struct sets *s);
uint32_t sets_add(struct sets *s, uint32_t set, uint32_t number);
uint32_t sets_join(struct sets *s, uint32_t a, uint32_t b);
/* The part of level 0 with these of 64 numbers. */
uint32_t sets_masked(struct sets *s, uint32_t which, uint64_t mask);
/* Calls back for each number, ascending. */
void sets_each(const struct sets *s, uint32_t set, void (*each)(void *ctx, uint32_t number),
	       void *ctx);

#endif
