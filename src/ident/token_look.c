/* What a word looks like by itself. */
#include <string.h>

#include "ident/chars.h"
#include "ident/look.h"
#include "ident/token.h"
#include "ident/wording.h"

/* What a word is made of. */
struct made {
	size_t digits, letters, dots, others;
	bool begins_by_digit;
};

static struct made make_up(struct str s)
{
	struct made m = { .begins_by_digit = chars_is(s.p[0], CHAR_DIGIT) };

	for (size_t i = 0; i < s.n; i++) {
		m.digits += chars_is(s.p[i], CHAR_DIGIT);
		m.letters += chars_is(s.p[i], CHAR_LETTER);
		m.dots += s.p[i] == '.';
		m.others += !chars_is(s.p[i], CHAR_ALNUM) && s.p[i] != '.';
	}
	return m;
}

bool token_is_hex(struct str run)
{
	bool has_digit = false, has_letter = false;
	struct str s = run;

	if (s.n > 2 && s.p[0] == '0' && (s.p[1] | 0x20) == 'x')
		s = str_skip(s, 2);
	else if (s.n < 8)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (!chars_is(s.p[i], CHAR_HEX))
			return false;
		has_digit |= chars_is(s.p[i], CHAR_DIGIT);
		has_letter |= chars_is(s.p[i], CHAR_LETTER);
	}
	return s.p != run.p || (has_digit && has_letter);
}

bool token_is_uuid(struct str s)
{
	if (s.n < TOKEN_UUID_BYTES)
		return false;
	for (size_t i = 0; i < TOKEN_UUID_BYTES; i++) {
		bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (is_dash ? s.p[i] != '-' : !chars_is(s.p[i], CHAR_HEX))
			return false;
	}
	return s.n == TOKEN_UUID_BYTES || !chars_is(s.p[TOKEN_UUID_BYTES], CHAR_ALNUM);
}

static struct str behind_last(struct str s, char c)
{
	const char *at = memrchr(s.p, c, s.n);

	return at ? str_skip(s, (size_t)(at - s.p) + 1) : (struct str){ s.p + s.n, 0 };
}

static bool is_all(struct str s, unsigned class)
{
	for (size_t i = 0; i < s.n; i++)
		if (!chars_is(s.p[i], class))
			return false;
	return s.n;
}

/* name.suffix:12 */
static bool is_place(struct str s)
{
	struct str line = behind_last(s, ':'), suffix;

	if (!is_all(line, CHAR_DIGIT))
		return false;
	suffix = behind_last(str_head(s, s.n - line.n - 1), '.');
	return wording_is_source_suffix(suffix);
}

/* Host or ip, colon, port. */
static bool is_address(struct str s)
{
	struct str port = behind_last(s, ':');
	struct str host = str_head(s, s.n - port.n - (port.n > 0));

	if (!is_all(port, CHAR_DIGIT) || port.n > 9 || !host.n || memchr(host.p, ':', host.n))
		return false;
	for (size_t i = 0; i < host.n; i++)
		if (!chars_is(host.p[i], CHAR_WORD) && !strchr(".-", host.p[i]))
			return false;
	return chars_is(host.p[0], CHAR_LETTER) || look_ip(s) == host.n;
}

/* Groups of few hexadecimal digits with colons. */
static bool is_ip6(struct str s)
{
	size_t colons = 0, run = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == ':')
			colons++, run = 0;
		else if (!chars_is(s.p[i], CHAR_HEX) || ++run > 9)
			return false;
	}
	return colons >= 4;
}

/* A number with a unit: 5ms, 1.5gb, 100%, 99.0PERCENTILE, 640x480. */
static bool is_quantity(struct str s, const struct made *m)
{
	size_t n = 0;
	struct str unit;

	while (n < s.n && (chars_is(s.p[n], CHAR_DIGIT) || strchr(".,", s.p[n])))
		n++;
	unit = str_skip(s, n);
	if (!n || !unit.n || m->dots > 1)
		return false;
	if (str_eq(unit, STR("%")) || (m->dots && is_all(unit, CHAR_LETTER)))
		return true;
	if ((unit.p[0] | 0x20) == 'e' && unit.n > 1 && m->dots &&
	    is_all(behind_last(unit, '-'), CHAR_DIGIT))
		return true;
	return wording_is_unit(unit) ||
	       (unit.n > 1 && (unit.p[0] | 0x20) == 'x' && is_all(str_skip(unit, 1), CHAR_DIGIT) &&
		!(n == 1 && s.p[0] == '0'));
}

static bool is_hashed(struct str s)
{
	struct str hash = behind_last(s, '@');

	return hash.n && is_all(hash, CHAR_HEX) && s.n > hash.n + 1 &&
	       chars_is(s.p[0], CHAR_LETTER);
}

/* name@domain.top: who is written to, or a principal. */
static bool is_mail(struct str s)
{
	size_t at = str_find_char(s, '@');
	struct str domain = str_skip(s, at + 1);
	bool has_dot = false;

	if (!at || at >= s.n || !domain.n || !chars_is(domain.p[0], CHAR_LETTER) ||
	    !chars_is(domain.p[domain.n - 1], CHAR_LETTER))
		return false;
	for (size_t i = 0; i < domain.n; i++) {
		if (!chars_is(domain.p[i], CHAR_ALNUM) && !strchr(".-", domain.p[i]))
			return false;
		has_dot |= domain.p[i] == '.';
	}
	return has_dot && !memchr(s.p, ':', at) && !memchr(s.p, '/', at);
}

static bool is_version(struct str s, const struct made *m)
{
	if ((s.p[0] | 0x20) == 'v' && s.n > 1 && chars_is(s.p[1], CHAR_DIGIT))
		return m->letters == 1 && !m->others;
	return m->begins_by_digit && m->dots >= 2 && !(m->others && memchr(s.p, '_', s.n));
}

/* org.example.UTF8Type: parts that begin by letters, the last by a capital. */
static bool is_code(struct str s, const struct made *m)
{
	const char *dot = memrchr(s.p, '.', s.n);

	if (m->dots < 2 || m->begins_by_digit || !chars_is(dot[1], CHAR_UPPER) ||
	    dot + 2 >= s.p + s.n)
		return false;
	for (size_t i = 0; i + 1 < s.n; i++)
		if (s.p[i] == '.' && !chars_is(s.p[i + 1], CHAR_LETTER))
			return false;
	return true;
}

static enum token_kind look_numeric(struct str s, const struct made *m)
{
	if (!m->dots)
		return m->others ? TOKEN_MIXED : TOKEN_NUMBER;
	if (look_ip(s) == s.n)
		return TOKEN_IP;
	if (m->dots == 1 && !m->others)
		return TOKEN_DECIMAL;
	return m->others ? TOKEN_MIXED : TOKEN_VERSION;
}

enum token_kind token_look(struct str s)
{
	struct str bare = s.p[0] == '-' || s.p[0] == '+' ? str_skip(s, 1) : s;
	struct made m;

	if (!bare.n)
		return TOKEN_WORD;
	m = make_up(bare);
	if (bare.n < s.n && chars_is(bare.p[0], CHAR_LETTER))
		return m.digits ? TOKEN_OPTION : TOKEN_WORD;
	if (memchr(s.p, '@', s.n) && is_mail(s))
		return TOKEN_MAIL;
	if (!m.digits)
		return TOKEN_WORD;
	if (memchr(s.p, ':', s.n)) {
		if (is_place(s))
			return TOKEN_PLACE;
		if (is_address(s))
			return TOKEN_ADDRESS;
		if (is_ip6(s))
			return TOKEN_IP;
	}
	if (memchr(s.p, '@', s.n) && is_hashed(s))
		return TOKEN_HASHED;
	if (!m.letters)
		return str_ends(s, STR("%")) ? TOKEN_QUANTITY : look_numeric(bare, &m);
	if (!m.others && !m.dots && token_is_hex(s))
		return TOKEN_HEX;
	if (is_quantity(bare, &m))
		return TOKEN_QUANTITY;
	if (is_code(s, &m))
		return TOKEN_CODE;
	return is_version(s, &m) ? TOKEN_VERSION : TOKEN_MIXED;
}

/* A run of letters and digits: "task12" has a schema, "1a2b" is at random. */
static char *put_run(struct str run, char *to, const char *end)
{
	bool is_random = token_is_hex(run), was_digit = false;

	for (size_t i = 0, changes = 0; i < run.n && !is_random; i++) {
		bool digit = chars_is(run.p[i], CHAR_DIGIT);

		if (i && digit != was_digit)
			is_random = ++changes > 3;
		was_digit = digit;
	}
	if (is_random) {
		if (to < end)
			*to++ = '*';
		return to;
	}
	for (size_t i = 0; i < run.n && to < end; i++) {
		if (!chars_is(run.p[i], CHAR_DIGIT))
			*to++ = run.p[i];
		else if (!i || !chars_is(run.p[i - 1], CHAR_DIGIT))
			*to++ = '#';
	}
	return to;
}

/* "6afab432.27f4": beside a long one, a short run of hexadecimal digits is at random, too. */
static bool has_hex(struct str s)
{
	for (size_t n; s.n; s = str_skip(s, n ? n : 1)) {
		for (n = 0; n < s.n && chars_is(s.p[n], CHAR_ALNUM);)
			n++;
		if (n && !is_all(str_head(s, n), CHAR_HEX))
			return false;
		if (n && token_is_hex(str_head(s, n)))
			return true;
	}
	return false;
}

/* "Ml1xnlSLQUGx2rksMQPouw": case and figures change at random, more often than words in a row do.
 * Digits in a row count as one, so that other numbers of them decide nothing. */
static bool is_scrambled(struct str s)
{
	enum { LEAST = 16, LEAST_OF_CASE = 3, PERCENT = 45 };
	size_t nr = 0, nr_changes = 0, nr_of[3] = { 0 };
	int was = -1;

	for (size_t i = 0; i < s.n; i++) {
		int is = chars_is(s.p[i], CHAR_DIGIT)   ? 0
			 : chars_is(s.p[i], CHAR_LOWER) ? 1
			 : chars_is(s.p[i], CHAR_UPPER) ? 2
							: 3;

		if (is == 3 && !strchr("-_+/=", s.p[i]))
			return false;
		if (is == 3 || (!is && was == 0))
			continue;
		nr++;
		nr_of[is]++;
		nr_changes += was >= 0 && is != was;
		was = is;
	}
	return nr >= LEAST && nr_of[0] && nr_of[1] >= LEAST_OF_CASE && nr_of[2] >= LEAST_OF_CASE &&
	       100 * nr_changes >= PERCENT * nr;
}

size_t token_schema(struct str s, char *to, size_t room)
{
	char *p = to;
	const char *end = to + room;
	bool is_random = has_hex(s);

	if (room && !is_random && is_scrambled(s)) {
		to[0] = '*';
		return 1;
	}
	while (s.n && p < end) {
		size_t n = 0;

		while (n < s.n && chars_is(s.p[n], CHAR_ALNUM))
			n++;
		if (n == 8 && token_is_uuid(s)) {
			*p++ = '*';
			s = str_skip(s, TOKEN_UUID_BYTES);
			continue;
		}
		if (!n) {
			/* a sign in front of a number is part of it: blk_-17 is a blk_# */
			bool is_sign = s.p[0] == '-' && p > to && p[-1] == '_' && s.n > 1 &&
				       chars_is(s.p[1], CHAR_DIGIT);

			if (!is_sign)
				*p++ = s.p[0];
			s = str_skip(s, 1);
			continue;
		}
		if (is_random && is_all(str_head(s, n), CHAR_HEX))
			*p++ = '*';
		else
			p = put_run(str_head(s, n), p, end);
		s = str_skip(s, n);
	}
	return (size_t)(p - to);
}
