/* Tells how long one UTF-8 character is and how wide a text stands in a terminal. */
#ifndef CULPRIT_BASE_UTF8_H
#define CULPRIT_BASE_UTF8_H

#include "base/str.h"

/* Bytes of the valid character at the front of s; 0 when there is none. */
size_t utf8_length(struct str s);
/* The character at the front of s and its bytes; 0 bytes when it is not valid. */
size_t utf8_decode(struct str s, uint32_t *c);
/* Columns in a terminal: combining marks 0, East Asian wide 2, a byte that is not UTF-8 one. */
size_t utf8_width(struct str s);
/* The longest front of s that fits in so many columns. */
struct str utf8_fit(struct str s, size_t columns);

#endif
