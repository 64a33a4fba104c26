/* Where in a text words, digits and what else may name something stand, as bits: so that a walk
 * goes from one to the next without looking at what is between. */
#ifndef CULPRIT_INFER_REQUESTS_TOKENS_MARKS_H
#define CULPRIT_INFER_REQUESTS_TOKENS_MARKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { MARKS_TEXT_MAX = 8192, MARKS_WORDS = MARKS_TEXT_MAX / 64 + 1 };

/* A bit for each byte; those behind the text are clear. */
struct marks {
	uint64_t word[MARKS_WORDS]; /* letters, digits, underscores, and the minus of blk_-17 */
	uint64_t digit[MARKS_WORDS];
	uint64_t look[MARKS_WORDS]; /* digits, slashes, letters that a UUID may begin with */
};

/* Of MARKS_TEXT_MAX bytes at the most. */
void marks_of(struct marks *m, struct str text);

/* The first bit that is set at or behind this place, or the end. */
static inline size_t marks_next(const uint64_t *bits, size_t at, size_t end)
{
	size_t i = at / 64, last = end / 64;
	uint64_t left = bits[i] >> (at % 64);

	if (left) {
		at += (size_t)__builtin_ctzll(left);
		return at < end ? at : end;
	}
	while (++i <= last)
		if (bits[i]) {
			at = i * 64 + (size_t)__builtin_ctzll(bits[i]);
			return at < end ? at : end;
		}
	return end;
}

/* The first bit behind a row of set ones that begins at this place. */
static inline size_t marks_end(const uint64_t *bits, size_t at)
{
	size_t i = at / 64;
	uint64_t left = ~bits[i] >> (at % 64);

	if (left)
		return at + (size_t)__builtin_ctzll(left);
	while (!~bits[++i])
		continue;
	return i * 64 + (size_t)__builtin_ctzll(~bits[i]);
}

/* Where the row of set bits begins that this place is in. */
static inline size_t marks_start(const uint64_t *bits, size_t at)
{
	size_t i = at / 64;
	uint64_t clear = ~bits[i] & ((1ULL << (at % 64)) - 1);

	while (!clear && i)
		clear = ~bits[--i];
	return clear ? i * 64 + 64 - (size_t)__builtin_clzll(clear) : 0;
}

#endif
