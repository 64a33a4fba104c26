/* Takes binary numbers from the front of bytes, in either order, never beyond their end. */
#ifndef CULPRIT_SOURCE_PACKET_BYTES_H
#define CULPRIT_SOURCE_PACKET_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

static inline uint64_t bytes_be(const char *p, unsigned n)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v = v << 8 | (unsigned char)p[i];
	return v;
}

static inline uint64_t bytes_le(const char *p, unsigned n)
{
	uint64_t v = 0;

	for (unsigned i = n; i > 0; i--)
		v = v << 8 | (unsigned char)p[i - 1];
	return v;
}

/* A number of n bytes (1..8); false, and nothing taken, when fewer are there. */
static inline bool take_be(struct str *s, unsigned n, uint64_t *v)
{
	if (s->n < n)
		return false;
	*v = bytes_be(s->p, n);
	*s = str_skip(*s, n);
	return true;
}

static inline bool take_le(struct str *s, unsigned n, uint64_t *v)
{
	if (s->n < n)
		return false;
	*v = bytes_le(s->p, n);
	*s = str_skip(*s, n);
	return true;
}

static inline bool take_part(struct str *s, uint64_t n, struct str *part)
{
	if (s->n < n)
		return false;
	*part = str_head(*s, (size_t)n);
	*s = str_skip(*s, (size_t)n);
	return true;
}

/* What stands at a place, or 0 beyond the end: for looks that need no certainty. */
static inline unsigned byte_at(struct str s, size_t i)
{
	return i < s.n ? (unsigned char)s.p[i] : 0;
}

#endif
