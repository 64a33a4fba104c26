#include "base/str.h"

#include <stdlib.h>
#include <strings.h>

#define XXH_INLINE_ALL /* most that is hashed is short: a call costs as much */
#include <xxhash.h>

bool str_eq_nocase(struct str a, struct str b)
{
	return a.n == b.n && (!a.n || !strncasecmp(a.p, b.p, a.n));
}

int str_cmp(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int r = n ? memcmp(a.p, b.p, n) : 0;

	return r ? r : (a.n > b.n) - (a.n < b.n);
}

size_t str_find(struct str s, struct str needle)
{
	const char *at;

	if (!needle.n)
		return 0;
	at = s.n ? memmem(s.p, s.n, needle.p, needle.n) : NULL;
	return at ? (size_t)(at - s.p) : s.n;
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s)
{
	while (s.n && is_space(s.p[0]))
		s = str_skip(s, 1);
	while (s.n && is_space(s.p[s.n - 1]))
		s.n--;
	return s;
}

uint64_t str_hash(struct str s)
{
	return XXH3_64bits(s.n ? s.p : "", s.n);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool str_take_uint(struct str *s, uint64_t *value)
{
	uint64_t v = 0;
	size_t i = 0;

	for (; i < s->n && is_digit(s->p[i]); i++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s->p[i] - '0'), &v))
			return false;
	if (!i)
		return false;
	*s = str_skip(*s, i);
	*value = v;
	return true;
}

bool str_take_digits(struct str *s, unsigned nr, unsigned *value)
{
	unsigned v = 0;

	if (s->n < nr || nr > 9)
		return false;
	for (unsigned i = 0; i < nr; i++) {
		if (!is_digit(s->p[i]))
			return false;
		v = v * 10 + (unsigned)(s->p[i] - '0');
	}
	*s = str_skip(*s, nr);
	*value = v;
	return true;
}

bool str_take_int(struct str *s, int64_t *value)
{
	struct str rest = *s;
	bool negative = str_take_char(&rest, '-');
	uint64_t v;

	if (!str_take_uint(&rest, &v) || v > (uint64_t)INT64_MAX + negative)
		return false;
	*value = negative ? (int64_t)(0 - v) : (int64_t)v;
	*s = rest;
	return true;
}

static int hex_of(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool str_take_hex(struct str *s, uint64_t *value)
{
	uint64_t v = 0;
	size_t i = 0;

	for (; i < s->n && hex_of(s->p[i]) >= 0; i++) {
		if (i == 16)
			return false;
		v = v << 4 | (uint64_t)hex_of(s->p[i]);
	}
	if (!i)
		return false;
	*s = str_skip(*s, i);
	*value = v;
	return true;
}

/*
 * Most numbers are short. Below 2^53 and with few digits behind the point, digits and power of ten
 * are both exact, so their quotient is what strtod answers. False for those that need strtod.
 */
static bool take_short_double(struct str *s, double *value)
{
	static const double powers[] = { 1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
					 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
	struct str rest = *s;
	bool negative = str_take_char(&rest, '-');
	size_t i = 0, nr = 0, point = 0;
	uint64_t v = 0;

	for (; i < rest.n; i++) {
		if (is_digit(rest.p[i])) {
			if (nr++ == 15)
				return false;
			v = v * 10 + (uint64_t)(rest.p[i] - '0');
		} else if (rest.p[i] == '.' && !point) {
			point = i + 1;
		} else {
			break;
		}
	}
	/* an exponent, or the x of a hexadecimal number */
	if (!nr || (i < rest.n && ((rest.p[i] | 0x20) == 'e' || (rest.p[i] | 0x20) == 'x')))
		return false;
	*value = (double)v / powers[point ? i - point : 0];
	if (negative)
		*value = -*value;
	*s = str_skip(rest, i);
	return true;
}

bool str_take_double(struct str *s, double *value)
{
	char text[64], *end;
	size_t n = s->n < sizeof(text) - 1 ? s->n : sizeof(text) - 1;
	double v;

	/* strtod also takes words such as "inf" and hexadecimal; a log means neither. */
	if (!n || (!is_digit(s->p[0]) && s->p[0] != '-' && s->p[0] != '.'))
		return false;
	if (n > 1 && s->p[0] == '0' && (s->p[1] | 0x20) == 'x')
		return false;
	if (take_short_double(s, value))
		return true;
	memcpy(text, s->p, n);
	text[n] = 0;
	v = strtod(text, &end);
	if (end == text)
		return false;
	*s = str_skip(*s, (size_t)(end - text));
	*value = v;
	return true;
}

bool str_take_word(struct str *s, struct str *word)
{
	struct str rest = *s;
	size_t i = 0;

	str_take_spaces(&rest);
	while (i < rest.n && rest.p[i] != ' ' && rest.p[i] != '\t')
		i++;
	if (!i)
		return false;
	*word = str_head(rest, i);
	*s = str_skip(rest, i);
	return true;
}

bool str_take_line(struct str *s, struct str *line)
{
	size_t at = str_find_char(*s, '\n');

	if (!s->n)
		return false;
	*line = str_head(*s, at);
	*s = str_skip(*s, at + 1);
	if (line->n && line->p[line->n - 1] == '\r')
		line->n--;
	return true;
}
