/*
 * Strings are collected as they come; settling sorts their pieces, makes the automaton, and puts
 * each pattern beside its longest piece, so that a pattern costs nothing until that is found.
 */
#include "ident/constants.h"

#include <stdlib.h>

#include "base/names.h"
#include "ident/constants_made.h"
#include "model/loss.h"
#include "program/strings.h"

#define BYTES_MAX ((size_t)256 << 20)

struct constants *constants_new(size_t bytes_max)
{
	struct constants *c = mem_zalloc(sizeof(*c));

	c->bytes_max = bytes_max ? bytes_max : BYTES_MAX;
	return c;
}

/* Forgets all that is made of what was added. */
static void unsettle(struct constants *c)
{
	automaton_done(&c->automaton);
	free(c->texts);
	free(c->text_next_to);
	free(c->first_pattern);
	free(c->by_anchor);
}

void constants_free(struct constants *c)
{
	if (!c)
		return;
	unsettle(c);
	names_done(&c->pieces);
	names_done(&c->patterns);
	vec_done(&c->next_to);
	free(c);
}

static bool has_letter(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (((s.p[i] | 0x20) >= 'a' && (s.p[i] | 0x20) <= 'z') ||
		    (unsigned char)s.p[i] >= 0x80)
			return true;
	return false;
}

static void add_piece(struct constants *c, struct str s, uint8_t next_to)
{
	sym_t sym;

	if (s.n < STRING_MIN || s.n > STRING_MAX || !has_letter(s))
		return;
	if (c->bytes > c->bytes_max / 4) {
		c->nr_left += !names_find(&c->pieces, s);
		return;
	}
	sym = names_add(&c->pieces, s);
	if (c->next_to.nr < c->pieces.nr) {
		c->bytes += s.n + sizeof(struct str);
		while (c->next_to.nr < c->pieces.nr)
			vec_push(&c->next_to, next_to);
	}
	c->next_to.v[sym] &= next_to;
}

/* How the first n bytes stand to the holes around them. */
static uint8_t next_to(struct str s, size_t n, bool is_after_hole)
{
	unsigned is = is_after_hole ? TEXT_AFTER_VALUE : 0;
	struct str name = str_trim(str_head(s, n));

	if (n < s.n)
		is |= TEXT_BEFORE_VALUE;
	if (n < s.n && name.n > 1 && (name.p[name.n - 1] == '=' || name.p[name.n - 1] == ':'))
		is |= TEXT_NAMES_VALUE;
	return (uint8_t)is;
}

void constants_add(struct constants *c, struct str s)
{
	struct str rest = s, anchor = pattern_anchor(s);
	size_t n;

	while (rest.n) {
		for (n = 0; n < rest.n && !string_is_hole(rest.p[n]); n++)
			;
		add_piece(c, str_head(rest, n), next_to(rest, n, rest.p > s.p));
		rest = str_skip(rest, n + 1);
	}
	if (anchor.n == s.n || anchor.n < STRING_MIN || s.n > STRING_MAX ||
	    !names_find(&c->pieces, anchor) || c->bytes > c->bytes_max / 4)
		return;
	if (names_add(&c->patterns, s) == c->patterns.nr - 1)
		c->bytes += s.n + sizeof(struct str);
}

static void add_string(void *ctx, struct str s)
{
	constants_add(ctx, s);
}

void constants_load(struct constants *c, const char *const *paths, size_t nr, struct losses *losses)
{
	struct strings_sink to = { add_string, c };

	for (size_t i = 0; i < nr; i++)
		if (strings_read(paths[i], &to, losses, NULL) < 0)
			losses->count[LOSS_PROGRAMS_BROKEN]++;
}

static int by_bytes(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* The first nr that were added, in byte order. */
static void sort_texts(struct constants *c, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		c->texts[i] = names_str(&c->pieces, i + 1);
	if (nr)
		qsort(c->texts, nr, sizeof(*c->texts), by_bytes);
	c->nr_texts = nr;
	for (uint32_t i = 0; i < nr; i++)
		c->text_next_to[i] = c->next_to.v[names_find(&c->pieces, c->texts[i])];
}

/* The number of a text, or nr_texts. */
static uint32_t find_text(const struct constants *c, struct str s)
{
	const struct str *t =
		c->nr_texts ? bsearch(&s, c->texts, c->nr_texts, sizeof(*c->texts), by_bytes)
			    : NULL;

	return t ? (uint32_t)(t - c->texts) : c->nr_texts;
}

/* Patterns by the number of their anchor: counted, then put in their places. */
static void place_patterns(struct constants *c)
{
	uint32_t nr = c->patterns.nr ? c->patterns.nr - 1 : 0;
	uint32_t *anchors = mem_alloc(mem_bytes((size_t)nr + 1, sizeof(*anchors)));

	c->first_pattern = mem_zalloc(mem_bytes((size_t)c->nr_texts + 2, sizeof(uint32_t)));
	c->by_anchor = mem_zalloc(mem_bytes((size_t)nr + 1, sizeof(*c->by_anchor)));
	for (uint32_t i = 0; i < nr; i++) {
		anchors[i] = find_text(c, pattern_anchor(names_str(&c->patterns, i + 1)));
		c->first_pattern[anchors[i] + 1]++;
	}
	for (uint32_t i = 0; i <= c->nr_texts; i++)
		c->first_pattern[i + 1] += c->first_pattern[i];
	for (uint32_t i = nr; i-- > 0;)
		c->by_anchor[--c->first_pattern[anchors[i] + 1]] = i + 1;
	/* each first is now where that of the number before it was, but for the shift by one */
	memmove(c->first_pattern, c->first_pattern + 1,
		((size_t)c->nr_texts + 1) * sizeof(uint32_t));
	c->first_pattern[c->nr_texts + 1] = nr;
	free(anchors);
}

void constants_settle(struct constants *c, struct losses *losses)
{
	uint32_t nr = c->pieces.nr ? c->pieces.nr - 1 : 0, all = nr;
	size_t nodes_max = (c->bytes_max - c->bytes_max / 4) / AUTOMATON_NODE_BYTES;

	unsettle(c);
	c->texts = mem_alloc(mem_bytes((size_t)nr + 1, sizeof(*c->texts)));
	c->text_next_to = mem_alloc((size_t)nr + 1);
	sort_texts(c, nr);
	while (!automaton_init(&c->automaton, c->texts, c->nr_texts, nodes_max) && nr) {
		nr -= nr / 4 + 1;
		sort_texts(c, nr);
	}
	place_patterns(c);
	losses->count[LOSS_STRINGS_LEFT] += c->nr_left + (all - nr);
	c->nr_left = 0;
}

size_t constants_nr(const struct constants *c)
{
	return c->nr_texts;
}

size_t constants_nr_patterns(const struct constants *c)
{
	return c->patterns.nr ? c->patterns.nr - 1 : 0;
}

size_t constants_bytes(const struct constants *c)
{
	return c->bytes + (size_t)c->automaton.nr_nodes * AUTOMATON_NODE_BYTES;
}
