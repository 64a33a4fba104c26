#include "agent/jvm/field.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define FIELD 104729u /* of no message that we know of */
#define WIRE_BYTES 2u

static size_t varint_put(unsigned char *to, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		to[n++] = (unsigned char)(v | 0x80);
	to[n++] = (unsigned char)v;
	return n;
}

size_t field_put(unsigned char *to, const void *bytes, size_t nr)
{
	size_t n = varint_put(to, FIELD << 3 | WIRE_BYTES);

	n += varint_put(to + n, nr);
	memcpy(to + n, bytes, nr);
	return n + nr;
}

static bool varint_take(const unsigned char **p, const unsigned char *end, uint64_t *v)
{
	*v = 0;
	for (unsigned shift = 0; *p < end && shift < 64; shift += 7) {
		unsigned char b = *(*p)++;

		*v |= (uint64_t)(b & 0x7f) << shift;
		if (b < 0x80)
			return true;
	}
	return false;
}

/* Over one field; false: what follows makes no sense. Groups are passed through by their parts. */
static bool field_skip(const unsigned char **p, const unsigned char *end, unsigned wire)
{
	uint64_t n;

	switch (wire) {
	case 0:
		return varint_take(p, end, &n);
	case 1:
	case 5:
		n = wire == 1 ? 8 : 4;
		break;
	case 2:
		if (!varint_take(p, end, &n))
			return false;
		break;
	case 3:
	case 4:
		return true;
	default:
		return false;
	}
	if (n > (uint64_t)(end - *p))
		return false;
	*p += n;
	return true;
}

/* The last one counts, as with any field. */
const unsigned char *field_find(const unsigned char *bytes, size_t nr, size_t *length)
{
	const unsigned char *p = bytes, *end = bytes + nr, *found = NULL;
	uint64_t tag, n;

	while (p < end && varint_take(&p, end, &tag)) {
		const unsigned char *at = p;

		if (!field_skip(&p, end, tag & 7))
			break;
		if (tag == (FIELD << 3 | WIRE_BYTES) && varint_take(&at, end, &n)) {
			found = at;
			*length = (size_t)n;
		}
	}
	return found;
}
