#include "infer/objects/shape.h"

#include "infer/objects/census.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex_letter(char c)
{
	return (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* 1, 1.2: digits, with one point at the most. */
static bool is_number(struct str s)
{
	size_t nr_points = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '.' && i && i + 1 < s.n)
			nr_points++;
		else if (!is_digit(s.p[i]))
			return false;
	}
	return s.n && nr_points <= 1;
}

static bool is_below_10000(struct str s)
{
	struct str rest = s;
	uint64_t value;

	return str_take_uint(&rest, &value) && value < 10000 && (!rest.n || rest.p[0] == '.');
}

/* Hexadecimal digits with both letters and figures, eight or more, parted by '-' and '.' at the
 * most. */
static bool is_random(struct str s)
{
	size_t nr_digits = 0, nr_letters = 0;

	if (str_starts(s, STR("0x")))
		s = str_skip(s, 2);
	for (size_t i = 0; i < s.n; i++) {
		if (is_digit(s.p[i]))
			nr_digits++;
		else if (is_hex_letter(s.p[i]))
			nr_letters++;
		else if ((s.p[i] != '-' && s.p[i] != '.') || !i)
			return false;
	}
	return nr_digits >= 2 && nr_letters && nr_digits + nr_letters >= 8;
}

static int digit_of(char c)
{
	if (is_digit(c))
		return c - '0';
	return is_hex_letter(c) ? (c | 0x20) - 'a' + 10 : -1;
}

bool shape_is_text(struct str value)
{
	for (size_t i = 0; i + 1 < value.n; i += 2) {
		int high = digit_of(value.p[i]), low = digit_of(value.p[i + 1]);
		int byte = high * 16 + low;

		if (high < 0 || low < 0 || byte < 0x20 || byte >= 0x7f)
			return false;
	}
	return value.n >= 8 && value.n % 2 == 0;
}

static bool is_port(struct str s)
{
	uint64_t value;

	return s.n && s.n <= 5 && str_take_uint(&s, &value) && !s.n && value <= 65535;
}

/* 10.0.0.1, host.name:80, [::1]:80. */
static bool is_address(struct str s)
{
	struct str host = s;
	bool has_port = false;
	size_t nr_points = 0, nr_other = 0;

	for (size_t i = s.n; i-- > 0;) {
		if (s.p[i] == ':' && is_port(str_skip(s, i + 1))) {
			host = str_head(s, i);
			has_port = true;
			break;
		}
	}
	for (size_t i = 0; i < host.n; i++) {
		if (host.p[i] == '.')
			nr_points++;
		else if (!is_digit(host.p[i]))
			nr_other++;
		if (!is_digit(host.p[i]) && !is_letter(host.p[i]) &&
		    !memchr(".-_:[]%", host.p[i], 7))
			return false;
	}
	if (!host.n || host.n > 255)
		return false;
	return has_port || (nr_points == 3 && !nr_other);
}

static bool is_word(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (!is_letter(s.p[i]) && !memchr("_-.$", s.p[i], 4))
			return false;
	}
	return s.n;
}

unsigned shape_of(struct str value)
{
	if (is_number(value))
		return KIND_NUMBER | (is_below_10000(value) ? KIND_SMALL : 0);
	if (value.n && (value.p[0] == '/' || str_find(value, STR("://")) < value.n ||
			str_find(value, STR(":/")) < value.n))
		return KIND_PATH;
	if (is_random(value))
		return KIND_RANDOM;
	if (is_address(value))
		return KIND_ADDRESS;
	return is_word(value) ? KIND_WORD : 0;
}

size_t shape_numbers(struct str value, uint64_t *v, size_t room)
{
	size_t nr = 0;

	for (size_t i = 0; i < value.n && nr < room;) {
		uint64_t number = 0;

		if (!is_digit(value.p[i])) {
			i++;
			continue;
		}
		for (; i < value.n && is_digit(value.p[i]); i++)
			number = number * 10 + (uint64_t)(value.p[i] - '0');
		v[nr++] = number;
	}
	return nr;
}
