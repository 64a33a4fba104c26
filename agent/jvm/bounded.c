#include "agent/jvm/bounded.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "wire/advice.h"

static size_t length_at(struct str s)
{
	unsigned char c = (unsigned char)s.p[0];
	size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

	return n < s.n ? n : s.n;
}

void bounded_add(struct bounded *b, struct str s)
{
	while (s.n && !b->is_full) {
		size_t n = length_at(s);

		if (b->n + n > ADVICE_TEXT) {
			b->is_full = b->is_cut = true;
			return;
		}
		memcpy(b->p + b->n, s.p, n);
		b->n += (uint16_t)n;
		s = str_skip(s, n);
	}
}

static void add_character(struct bounded *b, uint32_t c)
{
	char utf8[4];
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char heads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = n; i-- > 1; c >>= 6)
		utf8[i] = (char)(0x80 | (c & 0x3f));
	utf8[0] = (char)(heads[n] | c);
	bounded_add(b, (struct str){ utf8, n });
}

void bounded_add_utf16(struct bounded *b, const uint16_t *units, size_t nr)
{
	for (size_t i = 0; i < nr && !b->is_full; i++) {
		uint32_t c = units[i];

		if (c >= 0xd800 && c < 0xdc00 && i + 1 < nr && units[i + 1] >= 0xdc00 &&
		    units[i + 1] < 0xe000)
			c = 0x10000 + ((c - 0xd800) << 10) + (units[++i] - 0xdc00u);
		else if (c >= 0xd800 && c < 0xe000)
			c = 0xfffd;
		add_character(b, c);
	}
}

void bounded_add_int(struct bounded *b, int64_t i)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRId64, i);

	bounded_add(b, (struct str){ digits, (size_t)n });
}

void bounded_add_real(struct bounded *b, double d)
{
	char digits[40];
	int n = snprintf(digits, sizeof(digits), "%.15g", d);

	if (strtod(digits, NULL) != d)
		n = snprintf(digits, sizeof(digits), "%.17g", d);
	/* the point of whatever language the process has chosen */
	for (int i = 0; i < n; i++)
		if (digits[i] == ',')
			digits[i] = '.';
	bounded_add(b, (struct str){ digits, (size_t)n });
}
