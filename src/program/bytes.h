/* Takes big-endian numbers from the front of borrowed bytes, as class files write them. */
#ifndef CULPRIT_PROGRAM_BYTES_H
#define CULPRIT_PROGRAM_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* On failure *s and *v are unchanged, as with every taker. */
static inline bool bytes_take_u1(struct str *s, uint8_t *v)
{
	if (!s->n)
		return false;
	*v = (uint8_t)s->p[0];
	*s = str_skip(*s, 1);
	return true;
}

static inline bool bytes_take_u2(struct str *s, uint16_t *v)
{
	const uint8_t *p = (const uint8_t *)s->p;

	if (s->n < 2)
		return false;
	*v = (uint16_t)(p[0] << 8 | p[1]);
	*s = str_skip(*s, 2);
	return true;
}

static inline bool bytes_take_u4(struct str *s, uint32_t *v)
{
	const uint8_t *p = (const uint8_t *)s->p;

	if (s->n < 4)
		return false;
	*v = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
	*s = str_skip(*s, 4);
	return true;
}

static inline bool bytes_take_u8(struct str *s, uint64_t *v)
{
	uint32_t high, low;

	if (s->n < 8 || !bytes_take_u4(s, &high) || !bytes_take_u4(s, &low))
		return false;
	*v = (uint64_t)high << 32 | low;
	return true;
}

/* The next n bytes as a stretch of their own. */
static inline bool bytes_take(struct str *s, size_t n, struct str *v)
{
	if (s->n < n)
		return false;
	*v = str_head(*s, n);
	*s = str_skip(*s, n);
	return true;
}

#endif
