/* Whole numbers of 256 bits, for sums of products that must be right to the last digit. */
#ifndef CULPRIT_BASE_EXACT_H
#define CULPRIT_BASE_EXACT_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 uint128_t;

/* Two's complement, the lowest word first; zero is zero. */
struct exact {
	uint64_t w[4];
};

/* to += a * b. Sums of up to 2^64 products of numbers below 2^63 fit, and N times such a sum. */
static inline void exact_add_product(struct exact *to, uint64_t a, uint64_t b)
{
	uint128_t p = (uint128_t)a * b;
	uint128_t low = (uint128_t)to->w[0] + (uint64_t)p;
	uint128_t high = (uint128_t)to->w[1] + (uint64_t)(p >> 64) + (uint64_t)(low >> 64);

	to->w[0] = (uint64_t)low;
	to->w[1] = (uint64_t)high;
	if (__builtin_expect(high >> 64 != 0, 0) && !++to->w[2])
		to->w[3]++;
}

struct exact exact_sum(struct exact a, struct exact b);
struct exact exact_less(struct exact a, struct exact b);
/* Of what is not negative; the highest bits are lost where the product has more than 255. */
struct exact exact_times(struct exact a, uint64_t by);
struct exact exact_product(uint128_t a, uint128_t b);
bool exact_is_negative(struct exact a);
bool exact_eq(struct exact a, struct exact b);
double exact_double(struct exact a);

#endif
