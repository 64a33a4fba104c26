/* A few bits of the first bytes of a message: who reads sees by them that it is not at the place
 * where it takes itself to be. */
#ifndef CULPRIT_CAPTURE_PROBE_GUEST_MARK_H
#define CULPRIT_CAPTURE_PROBE_GUEST_MARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MARK_BYTES 16u
#define MARK_LENGTH_MASK (MARK_BYTES - 1)

/* How many bytes of so many are looked at. */
static inline size_t mark_bytes(uint64_t nr)
{
	return nr < MARK_BYTES ? (size_t)nr : MARK_BYTES;
}

/* Up to 8 bytes as a number. */
static inline uint64_t mark_word(const uint8_t *p, size_t nr)
{
	uint64_t word = 0;

	if (nr >= 8)
		__builtin_memcpy(&word, p, 8);
	else
		while (nr--)
			word = word << 8 | p[nr];
	return word;
}

/* Never 0; its lowest bits are how many bytes it is of, less one. nr: 1 to MARK_BYTES. */
static inline uint32_t mark_of(const void *bytes, size_t nr)
{
	const uint8_t *p = bytes;
	uint64_t low = mark_word(p, nr), high = nr > 8 ? mark_word(p + 8, nr - 8) : 0;
	unsigned __int128 m =
		(unsigned __int128)(low ^ 0xa0761d6478bd642fu) * (high ^ 0xe7037ed1a0b428dbu);

	uint32_t hash = (uint32_t)m ^ (uint32_t)(m >> 64) ^ (uint32_t)(m >> 96);

	return ((hash | 0x80000000u) & ~MARK_LENGTH_MASK) | (uint32_t)(nr - 1);
}

/* Whether the bytes are those that were marked, as far as they are here. */
static inline bool mark_fits(uint32_t mark, const void *bytes, uint64_t nr)
{
	size_t of = (mark & MARK_LENGTH_MASK) + 1;

	return !mark || nr < of || mark_of(bytes, of) == mark;
}

#endif
