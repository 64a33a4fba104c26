/* Sums of numbers, floating point ones too, that do not depend on the order of what was added. */
#ifndef CULPRIT_BASE_SUM_H
#define CULPRIT_BASE_SUM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * A whole number, and a number of fixed point as wide as all doubles are (2,240 bits), of which the
 * part that is used is kept: limbs of 32 bits from the lowest on, the highest one with the sign.
 * The sum is both together: most sums are of whole numbers and need no limbs. Zero is zero.
 */
struct sum {
	int64_t whole;
	int64_t *limbs; /* from malloc */
	uint16_t from, nr;
	bool is_double; /* something added was not whole */
};

void sum_done(struct sum *s);
/* Added so many times. */
void sum_int(struct sum *s, int64_t v, uint64_t times);
/* The same; false for what is not finite, which is not added. */
bool sum_double(struct sum *s, double v, uint64_t times);
void sum_merge(struct sum *to, const struct sum *from);
/* Whether all was whole and the sum fits. */
bool sum_whole(const struct sum *s, int64_t *v);
/* The nearest double. */
double sum_value(const struct sum *s);

/* As bytes: equal sums, equal bytes. */
void sum_pack(struct buf *b, const struct sum *s);
/* Into a zero one; false: not made by the above. */
bool sum_take(struct str *bytes, struct sum *s);

#endif
