/* How numbers are spread, in bounded room: each one while they are few, then by ranges. */
#ifndef CULPRIT_QUERY_SPREAD_H
#define CULPRIT_QUERY_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"

struct buckets;

#define SPREAD_MAX 1024 /* different numbers; beyond, the lowest bits of all are left out */

struct spread_range {
	uint64_t key;   /* the number's bits, so that keys are ordered like numbers */
	uint64_t times; /* how often it was seen */
};

/*
 * When there are too many different numbers, all keep the 8 highest bits of their fraction (within
 * 0.2 % of what they were), then 7, and so on. How many are left depends on what was added, not on
 * the order of it: a set of numbers never needs fewer bits than a part of it. Zero has seen
 * nothing.
 */
struct spread {
	VEC(struct spread_range) v; /* sorted up to nr_sorted */
	size_t nr_sorted;
	uint8_t shift; /* bits that are left out */
};

void spread_done(struct spread *s);
/* Ranges are powers of two from the start: for HISTOGRAM. */
void spread_by_powers(struct spread *s);
/* A finite number. */
void spread_add(struct spread *s, double v, uint64_t times);
void spread_merge(struct spread *to, const struct spread *from);
/* The smallest number that so many percent are not above; of a range its middle. */
double spread_percentile(struct spread *s, double percent);
/* Whether numbers were left out for ranges. */
bool spread_is_coarse(const struct spread *s);
/* Their sum is that of the middles of ranges. */
void spread_buckets(struct spread *s, struct buckets *b);

/* As bytes: equal ones, equal bytes. */
void spread_pack(struct buf *b, struct spread *s);
/* Into a zero one; false: not made by the above. */
bool spread_take(struct str *bytes, struct spread *s);

#endif
