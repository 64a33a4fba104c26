#include "base/utf8.h"

size_t utf8_decode(struct str s, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char first = s.n ? (unsigned char)s.p[0] : 0;
	size_t n = !s.n                     ? 0
		   : first < 0x80           ? 1
		   : (first & 0xe0) == 0xc0 ? 2
		   : (first & 0xf0) == 0xe0 ? 3
		   : (first & 0xf8) == 0xf0 ? 4
					    : 0;
	uint32_t v = n == 1 ? first : first & (0xff >> (n + 1));

	if (!n || n > s.n)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if (((unsigned char)s.p[i] & 0xc0) != 0x80)
			return 0;
		v = v << 6 | ((unsigned char)s.p[i] & 0x3f);
	}
	if (v < least[n] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
		return 0;
	*c = v;
	return n;
}

size_t utf8_length(struct str s)
{
	uint32_t c;

	return utf8_decode(s, &c);
}

static size_t char_width(uint32_t c)
{
	if (c < 0x300)
		return 1;
	if (c < 0x370 || (c >= 0x200b && c <= 0x200f) || (c >= 0xfe00 && c <= 0xfe0f))
		return 0;
	return (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
			       (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
			       (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
			       (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd)
		       ? 2
		       : 1;
}

struct str utf8_fit(struct str s, size_t columns)
{
	size_t at = 0, wide = 0;

	while (at < s.n) {
		uint32_t c = '?';
		size_t n, w;

		if ((unsigned char)s.p[at] < 0x80 && wide < columns) {
			at++;
			wide++;
			continue;
		}
		n = utf8_decode(str_skip(s, at), &c);
		w = n ? char_width(c) : 1;

		if (wide + w > columns)
			break;
		wide += w;
		at += n ? n : 1;
	}
	return str_head(s, at);
}

size_t utf8_width(struct str s)
{
	size_t wide = 0;

	while (s.n) {
		uint32_t c = '?';
		size_t n = utf8_decode(s, &c);

		wide += n ? char_width(c) : 1;
		s = str_skip(s, n ? n : 1);
	}
	return wide;
}
