/* Writes numbers as decimal text, the same as printf and many times faster. */
#ifndef CULPRIT_BASE_DECIMAL_H
#define CULPRIT_BASE_DECIMAL_H

#include <stdint.h>

#include "base/str.h"

#define DECIMAL_BYTES 40

/* Both write into out and return what they wrote. */
struct str decimal_int(char out[DECIMAL_BYTES], int64_t value);
struct str decimal_uint(char out[DECIMAL_BYTES], uint64_t value);
/* As "%.9f" with these many places, from 1 to 9; nothing for 2^53 and more, or what is no number.
 */
struct str decimal_fixed(char out[DECIMAL_BYTES], double value, unsigned places);

#endif
