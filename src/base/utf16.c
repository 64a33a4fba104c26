#include "base/utf16.h"

#define REPLACEMENT 0xfffd

static void put(struct utf16 *u, uint32_t c)
{
	char *o = u->out + u->nr_out;

	if (c < 0x80) {
		*o++ = (char)c;
	} else if (c < 0x800) {
		*o++ = (char)(0xc0 | c >> 6);
		*o++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*o++ = (char)(0xe0 | c >> 12);
		*o++ = (char)(0x80 | (c >> 6 & 0x3f));
		*o++ = (char)(0x80 | (c & 0x3f));
	} else {
		*o++ = (char)(0xf0 | c >> 18);
		*o++ = (char)(0x80 | (c >> 12 & 0x3f));
		*o++ = (char)(0x80 | (c >> 6 & 0x3f));
		*o++ = (char)(0x80 | (c & 0x3f));
	}
	u->nr_out = (uint8_t)(o - u->out);
}

/* At most two characters come of one unit: one for a half pair before it, and its own. */
static void take_unit(struct utf16 *u, uint16_t unit)
{
	bool is_low = unit >= 0xdc00 && unit < 0xe000, is_high = unit >= 0xd800 && unit < 0xdc00;

	u->nr_out = u->at_out = 0;
	if (u->high && is_low) {
		put(u, 0x10000 + ((uint32_t)(u->high - 0xd800) << 10) + (uint32_t)(unit - 0xdc00));
		u->high = 0;
		return;
	}
	if (u->high)
		put(u, REPLACEMENT);
	u->high = is_high ? unit : 0;
	if (!is_high)
		put(u, is_low ? REPLACEMENT : unit);
}

size_t utf16_decode(struct utf16 *u, struct str *from, char *to, size_t n)
{
	size_t got = 0;

	while (got < n) {
		unsigned char byte;

		if (u->at_out < u->nr_out) {
			to[got++] = u->out[u->at_out++];
			continue;
		}
		if (!from->n)
			break;
		byte = (unsigned char)from->p[0];
		*from = str_skip(*from, 1);
		if (u->is_odd)
			take_unit(u, (uint16_t)(u->big_endian ? u->half << 8 | byte
							      : byte << 8 | u->half));
		u->half = byte;
		u->is_odd = !u->is_odd;
	}
	return got;
}

bool utf16_is_whole(const struct utf16 *u)
{
	return !u->is_odd && !u->high && u->at_out == u->nr_out;
}
