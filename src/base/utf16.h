/* Turns UTF-16, as Windows writes files, into UTF-8, in whatever pieces it comes. */
#ifndef CULPRIT_BASE_UTF16_H
#define CULPRIT_BASE_UTF16_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* Zero is the beginning of little-endian text behind its byte order mark. */
struct utf16 {
	bool big_endian;
	bool is_odd; /* half of a unit is in `half` */
	unsigned char half;
	uint16_t high; /* the first half of a pair, or 0 */
	char out[8];   /* UTF-8 that found no room yet */
	uint8_t nr_out, at_out;
};

/* Writes up to n bytes; *from is moved past what was read. Half pairs become U+FFFD. */
size_t utf16_decode(struct utf16 *u, struct str *from, char *to, size_t n);
/* Whether the text may end here. */
bool utf16_is_whole(const struct utf16 *u);

#endif
