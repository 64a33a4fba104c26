/*
 * Constants are looked for from left to right, each at the first place behind the one before, the
 * first at the beginning and the last at the end of the message. That finds a fit whenever there is
 * one. Where it puts something else than a number into a hole for numbers, the constant in front of
 * that hole is tried further on, a bounded number of times.
 */
#include "infer/requests/match_fit.h"

#include <ctype.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "infer/requests/match.h"

enum { MOVES_MAX = 16, CONSTANTS_MAX = PARTS_MAX };

/* The letters between the first and the last. */
static bool has_middle(const char *p, struct str needle)
{
	return needle.n <= 2 || !memcmp(p + 1, needle.p + 1, needle.n - 2);
}

/* Where first and last letter of the needle stand at their distance, 16 places at a time. */
size_t match_search(struct str s, size_t from, struct str needle)
{
	const char *p, *q, *end;
	char first, last;

	if (needle.n > s.n || from > s.n - needle.n)
		return s.n;
	if (!needle.n)
		return from;
	first = needle.p[0];
	last = needle.p[needle.n - 1];
	p = s.p + from;
	q = p + needle.n - 1; /* where the last letter is to stand */
	end = s.p + (s.n - needle.n + 1);
#ifdef __SSE2__
	const __m128i firsts = _mm_set1_epi8(first), lasts = _mm_set1_epi8(last);

	for (; end - p >= 16; p += 16, q += 16) {
		__m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i y = _mm_loadu_si128((const __m128i *)(const void *)q);
		unsigned hits = (unsigned)_mm_movemask_epi8(
			_mm_and_si128(_mm_cmpeq_epi8(x, firsts), _mm_cmpeq_epi8(y, lasts)));

		for (; hits; hits &= hits - 1) {
			const char *here = p + __builtin_ctz(hits);

			if (has_middle(here, needle))
				return (size_t)(here - s.p);
		}
	}
#endif
	for (; p < end; p++, q++)
		if (*p == first && *q == last && has_middle(p, needle))
			return (size_t)(p - s.p);
	return s.n;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static size_t digits(struct str s)
{
	size_t n = 0;

	while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
		n++;
	return n;
}

static bool is_integer(struct str s)
{
	s = str_skip(s, s.n && s.p[0] == '-');
	return s.n && digits(s) == s.n;
}

/* As Java prints it, with a grouping or an exponent perhaps. */
static bool is_decimal(struct str s)
{
	bool any = false;

	if (str_eq(s, STR("NaN")) || str_ends(s, STR("Infinity")))
		return true;
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		any |= isdigit(c) != 0;
		if (!isdigit(c) && !strchr("+-.,eE", c))
			return false;
	}
	return any && !memchr(s.p, 0, s.n);
}

static bool is_of_type(enum hole_type type, struct str s)
{
	switch (type) {
	case HOLE_INTEGER:
		return is_integer(s);
	case HOLE_DECIMAL:
		return is_decimal(s);
	case HOLE_BOOLEAN:
		return str_eq(s, STR("true")) || str_eq(s, STR("false"));
	case HOLE_CHAR:
		return s.n && s.n <= 4; /* one letter in UTF-8 */
	case HOLE_TEXT:
	case HOLE_OBJECT:
	case HOLE_ERROR:
		break;
	}
	return true;
}

struct fitting {
	const struct match_pattern *p;
	struct str message;
	size_t end;               /* of it, without the blanks there */
	uint32_t nr;              /* of constants */
	size_t at[CONSTANTS_MAX]; /* where each stands */
};

static struct str constant(const struct fitting *f, uint32_t i)
{
	return f->p->parts[f->p->constants[i]].text;
}

/* Places the constants from i on, the last one at the end; false when one is missing. */
static bool place_from(struct fitting *f, uint32_t i, size_t from)
{
	size_t end = f->message.n;
	uint32_t nr = f->nr;

	if (f->p->ends) {
		end -= constant(f, nr - 1).n;
		nr--;
	}
	for (; i < nr; i++) {
		size_t here = match_search(str_head(f->message, end), from, constant(f, i));

		if (here == end)
			return false;
		f->at[i] = here;
		from = here + constant(f, i).n;
	}
	return from <= end;
}

/* What stands in front of constant i, or behind the last one. */
static struct str gap(const struct fitting *f, uint32_t i)
{
	size_t from = i ? f->at[i - 1] + constant(f, i - 1).n : 0;
	size_t to = i < f->nr ? f->at[i] : f->end > from ? f->end : from;
	return str_head(str_skip(f->message, from), to - from);
}

/* The holes of a gap: parts first .. first + nr. */
static uint32_t gap_parts(const struct fitting *f, uint32_t i, uint32_t *first)
{
	uint32_t end = i < f->nr ? f->p->constants[i] : f->p->nr;

	*first = i ? f->p->constants[i - 1] + 1U : 0;
	return end - *first;
}

/* Only a hole that is alone in its gap can be held to its type. */
static bool gap_holds(const struct fitting *f, uint32_t i)
{
	uint32_t first, nr = gap_parts(f, i, &first);

	if (!nr)
		return !gap(f, i).n;
	return nr > 1 || f->p->parts[first].kind != PART_HOLE ||
	       is_of_type((enum hole_type)f->p->parts[first].type, gap(f, i));
}

static uint32_t first_bad(const struct fitting *f)
{
	for (uint64_t left = f->p->strict; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(left), end = i < 63 ? i + 1 : f->nr + 1;

		for (; i < end; i++)
			if (!gap_holds(f, i))
				return i;
	}
	return f->nr + 1;
}

/* Moves constants until numbers stand where they should; false when none of the tries did it. */
static bool move(struct fitting *f, uint32_t bad)
{
	for (unsigned moves = 0; moves < MOVES_MAX; moves++) {
		uint32_t i = bad - 1;

		if (!bad || (!i && f->p->begins) || (i + 1 == f->nr && f->p->ends))
			return false;
		if (!place_from(f, i, f->at[i] + 1))
			return false;
		bad = first_bad(f);
		if (bad > f->nr)
			return true;
	}
	return false;
}

static void add_value(struct match *to, const struct match_part *p, struct str text)
{
	if (to->nr == MATCH_VALUES || (p->kind == PART_ANY && !text.n))
		return;
	to->values[to->nr++] = (struct match_value){ p->part, p->can_name, text };
}

/* Numbers at the front of several holes in a row are told apart; the first other one has the rest.
 */
static void share_gap(struct match *to, const struct match_part *p, uint32_t nr, struct str text)
{
	for (uint32_t i = 0; i < nr; i++) {
		size_t n = text.n;

		if (i + 1 < nr && p[i].kind == PART_ANY)
			n = 0;
		else if (i + 1 < nr && p[i].type == HOLE_INTEGER)
			n = digits(str_skip(text, text.n && text.p[0] == '-')) +
			    (text.n && text.p[0] == '-');
		add_value(to, &p[i], str_head(text, n));
		text = str_skip(text, n);
	}
}

static void take_gap(const struct fitting *f, uint32_t i, struct match *to)
{
	uint32_t first, nr = gap_parts(f, i, &first);

	if (nr == 1)
		add_value(to, &f->p->parts[first], gap(f, i));
	else if (nr)
		share_gap(to, &f->p->parts[first], nr, gap(f, i));
}

static void take_values(const struct fitting *f, struct match *to)
{
	if (!to)
		return;
	to->nr = 0;
	for (uint32_t i = 0; i <= f->nr; i++)
		take_gap(f, i, to);
}

/* False when the end does not fit. */
static bool begin(struct fitting *f, const struct match_pattern *p, struct str message)
{
	f->end = message.n;
	while (f->end && is_blank(message.p[f->end - 1]))
		f->end--;
	if (p->ends) {
		struct str last = p->parts[p->nr - 1].text;

		message.n = f->end;
		if (!str_ends(message, last))
			return false;
		f->at[p->nr_constants - 1] = message.n - last.n;
	}
	f->p = p;
	f->message = message;
	f->nr = p->nr_constants;
	if (p->begins)
		f->at[0] = 0;
	return true;
}

enum match_fit match_fit(const struct match_pattern *p, struct str message, struct match *to)
{
	struct fitting f;
	uint32_t bad;

	if (p->letters > message.n || p->nr_constants > CONSTANTS_MAX || !begin(&f, p, message))
		return FIT_NOT;
	if (p->nr == 1 && p->begins) {
		if (to)
			to->nr = 0;
		return f.message.n == p->letters ? FIT_WHOLE : FIT_NOT;
	}
	if (!place_from(&f, p->begins, p->begins ? p->parts[0].text.n : 0))
		return FIT_NOT;
	take_values(&f, to);
	bad = first_bad(&f);
	if (bad > f.nr)
		return FIT_WHOLE;
	if (!move(&f, bad))
		return FIT_LOOSE;
	take_values(&f, to);
	return FIT_WHOLE;
}

uint32_t match_fit_front(const struct match_pattern *p, struct str message, struct match *to)
{
	struct fitting f = { .p = p, .message = message, .end = message.n };
	uint32_t letters = 0;
	size_t from = 0;

	for (; f.nr < p->nr_constants; f.nr++) {
		struct str text = p->parts[p->constants[f.nr]].text;
		size_t at = match_search(message, from, text);

		if (at == message.n || (!f.nr && p->begins && at))
			break;
		f.at[f.nr] = at;
		from = at + text.n;
		letters += (uint32_t)text.n;
	}
	if (to)
		to->nr = 0;
	for (uint32_t i = 0; to && i < f.nr; i++)
		take_gap(&f, i, to);
	return letters;
}
