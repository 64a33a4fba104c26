/* Real numbers (IEEE 754, 64 bits, to the nearest even) by whole ones: a guest must not touch the
 * registers of floating point. */
#ifndef CULPRIT_LIB_ADVICE_REAL_H
#define CULPRIT_LIB_ADVICE_REAL_H

#include <stdbool.h>
#include <stdint.h>

#define REAL_SIGN ((uint64_t)1 << 63)

uint64_t real_of(int64_t i);
uint64_t real_add(uint64_t a, uint64_t b);
uint64_t real_mul(uint64_t a, uint64_t b);
uint64_t real_div(uint64_t a, uint64_t b);
/* As fmod. */
uint64_t real_mod(uint64_t a, uint64_t b);
/* -1, 0, 1; 0 where one of them is no number. */
int real_cmp(uint64_t a, uint64_t b);
/* Of a number from 0 to 2^63: the least whole one that is not below it. */
uint64_t real_ceil(uint64_t a);
static inline bool real_is_zero(uint64_t a)
{
	return !(a << 1);
}

#endif
