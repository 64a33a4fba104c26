/*
 * The pieces around the anchor are looked for outwards from it, each at the nearest place where
 * what lies between is a value of the kind that the hole asks for. Nearest is not always right ("%s
 * of %s" and "a of b of c"), but costs one look at the line.
 */
#include "ident/constants_pattern.h"

#include "program/strings.h"

/* A piece, and the hole in front of it: 0 for the front of the pattern. */
struct element {
	struct str text;
	char hole;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

/* Whether all letters and digits that follow, in one direction, are digits. */
static bool is_number(struct str line, size_t at, int direction)
{
	while (at < line.n && is_digit(line.p[at]))
		at += (size_t)direction; /* below zero it is beyond the end */
	return at >= line.n || !is_letter(line.p[at]);
}

bool pattern_may_cut(struct str line, size_t at)
{
	char before, after;

	if (!at || at >= line.n)
		return true;
	before = line.p[at - 1];
	after = line.p[at];
	if (is_digit(before) && is_digit(after))
		return false;
	if (is_letter(before) && is_letter(after))
		return false;
	if (is_letter(before) && is_digit(after))
		return is_number(line, at, 1);
	if (is_digit(before) && is_letter(after))
		return is_number(line, at - 1, -1);
	return true;
}

bool pattern_is_within_word(struct str line, size_t from, size_t to)
{
	if (!from || to >= line.n || !is_digit(line.p[from - 1]) || !is_digit(line.p[to]))
		return false;
	for (size_t i = from; i < to; i++)
		if (!is_letter(line.p[i]) && !is_digit(line.p[i]))
			return false;
	return true;
}

/* The next piece and the hole in front of it; false at the end. A hole at the end has an empty
 * piece. */
static bool take_element(struct str *pattern, struct element *e)
{
	size_t n = 0;

	if (!pattern->n)
		return false;
	e->hole = 0;
	while (pattern->n && string_is_hole(pattern->p[0])) {
		/* several in a row are one of any kind */
		e->hole = e->hole ? (char)STRING_ANY : pattern->p[0];
		*pattern = str_skip(*pattern, 1);
	}
	while (n < pattern->n && !string_is_hole(pattern->p[n]))
		n++;
	e->text = str_head(*pattern, n);
	*pattern = str_skip(*pattern, n);
	return true;
}

struct str pattern_anchor(struct str pattern)
{
	struct str anchor = STR("");
	struct element e;

	while (take_element(&pattern, &e))
		if (e.text.n > anchor.n)
			anchor = e.text;
	return anchor;
}

static bool is_decimal(char c)
{
	return is_digit(c) || c == '.' || c == 'e' || c == '-' || c == '+';
}

/* Whether a value of this kind may be printed like this. Widths pad with spaces. */
static bool is_value(char hole, struct str s)
{
	s = str_trim(s);
	if (hole == STRING_ANY)
		return true;
	if (hole == STRING_CHAR)
		return s.n <= 4;
	if (hole == STRING_HEX && s.n > 2 && s.p[0] == '0' && (s.p[1] == 'x' || s.p[1] == 'X'))
		s = str_skip(s, 2);
	else if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
		s = str_skip(s, 1);
	if (!s.n)
		return false;
	if (hole == STRING_DECIMAL && (str_eq(s, STR("nan")) || str_eq(s, STR("inf"))))
		return true;
	for (size_t i = 0; i < s.n; i++)
		if (hole == STRING_HEX       ? !is_hex(s.p[i])
		    : hole == STRING_DECIMAL ? !is_decimal(s.p[i])
					     : !is_digit(s.p[i]) && s.p[i] != ',')
			return false;
	return true;
}

/* The end of a value of this kind that begins here and has nothing behind it. */
static uint32_t value_end(char hole, struct str line, uint32_t at)
{
	uint32_t end = at;

	while (end < line.n && line.p[end] != ' ' && pattern_may_cut(line, end) <= (end == at))
		end++;
	while (end > at && !is_value(hole, (struct str){ line.p + at, end - at }))
		end--;
	return end;
}

/* The nearest place at or behind from where the piece stands, with a value in between. */
static bool find_after(const struct element *e, struct str line, uint32_t from, uint32_t *at)
{
	for (uint32_t i = from; i + e->text.n <= line.n; i++) {
		size_t skip = str_find(str_skip(line, i), e->text);

		i += (uint32_t)skip;
		if (i + e->text.n > line.n)
			return false;
		if (is_value(e->hole, (struct str){ line.p + from, i - from })) {
			*at = i;
			return true;
		}
	}
	return false;
}

/* The same in front of what begins at to. */
static bool find_before(struct str text, char hole, struct str line, uint32_t to, uint32_t *at)
{
	for (uint32_t i = to + 1 - (uint32_t)(text.n < to ? text.n : to); i-- > 0;) {
		if (i + text.n > to || !str_starts(str_skip(line, i), text))
			continue;
		if (is_value(hole, (struct str){ line.p + i + text.n, to - i - text.n })) {
			*at = i;
			return true;
		}
	}
	return false;
}

/* The pieces in front of the anchor, from it outwards. */
static bool fit_before(const struct element *e, uint32_t anchor, struct str line, struct fit *f)
{
	uint32_t at = 0;

	for (uint32_t i = anchor; i-- > 0;) {
		if (!find_before(e[i].text, e[i + 1].hole, line, f->v[i + 1].from, &at))
			return false;
		f->v[i] = (struct stretch){ at, at + (uint32_t)e[i].text.n };
	}
	return true;
}

/* Those behind it, and the value at the end. */
static bool fit_behind(const struct element *e, uint32_t anchor, uint32_t nr, struct str line,
		       struct fit *f)
{
	uint32_t at = 0;

	f->to = f->v[anchor].to;
	for (uint32_t i = anchor + 1; i < nr; i++) {
		if (!e[i].text.n) {
			f->is_open = e[i].hole == STRING_ANY;
			at = f->is_open ? f->to : value_end(e[i].hole, line, f->to);
			if (at == f->to && !f->is_open)
				return false;
		} else if (!find_after(&e[i], line, f->to, &at)) {
			return false;
		}
		f->v[i] = (struct stretch){ at, at + (uint32_t)e[i].text.n };
		f->to = f->v[i].to;
	}
	return true;
}

bool pattern_fit(struct str pattern, struct str line, uint32_t anchor_at, struct fit *f)
{
	struct element e[PATTERN_PIECES_MAX];
	uint32_t nr = 0, anchor = 0;

	while (nr < PATTERN_PIECES_MAX && take_element(&pattern, &e[nr])) {
		if (e[nr].text.n > e[anchor].text.n)
			anchor = nr;
		nr++;
	}
	if (!nr || pattern.n)
		return false;
	f->is_open = false;
	f->v[anchor] = (struct stretch){ anchor_at, anchor_at + (uint32_t)e[anchor].text.n };
	if (!fit_before(e, anchor, line, f) || !fit_behind(e, anchor, nr, line, f))
		return false;
	f->nr = 0;
	for (uint32_t i = 0; i < nr; i++)
		if (f->v[i].to > f->v[i].from)
			f->v[f->nr++] = f->v[i];
	return (e[0].hole || pattern_may_cut(line, f->v[0].from)) &&
	       (f->is_open || pattern_may_cut(line, f->to));
}
