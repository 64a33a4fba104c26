/*
 * What several versions have in common: the longest sequence of parts that is in all of them, and
 * something that may be anything wherever one of them has more. Every message that one of the
 * versions fits is fitted by it as well.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "program/text.h"

static bool same_part(const struct part *x, const struct part *y)
{
	return x->kind == y->kind && x->type == y->type && str_eq(x->text, y->text);
}

struct cover {
	const struct version *x, *y;
	uint32_t from, end_x, end_y; /* what both begin and end with lies outside */
	uint16_t *longest;           /* common sequence from [i][k] on */
	struct version *to;
};

static uint16_t *longest_at(const struct cover *c, uint32_t i, uint32_t k)
{
	return &c->longest[(size_t)(i - c->from) * (c->end_y - c->from + 1) + (k - c->from)];
}

static void add_part(struct version *to, const struct part *p)
{
	const struct part *last = to->nr ? &to->parts[to->nr - 1] : NULL;

	if (p->kind == PART_ANY && last && last->kind == PART_ANY)
		return;
	to->parts[to->nr++] = *p;
	if (p->kind == PART_TEXT)
		to->letters += (uint32_t)p->text.n;
}

static void add_any(struct version *to)
{
	add_part(to, &(struct part){ .kind = PART_ANY, .type = HOLE_OBJECT, .text = STR("") });
}

static void find_longest(struct cover *c)
{
	for (uint32_t i = c->end_x; i-- > c->from;) {
		for (uint32_t k = c->end_y; k-- > c->from;) {
			uint16_t over_x = *longest_at(c, i + 1, k);
			uint16_t over_y = *longest_at(c, i, k + 1);

			*longest_at(c, i, k) =
				same_part(&c->x->parts[i], &c->y->parts[k])
					? (uint16_t)(*longest_at(c, i + 1, k + 1) + 1)
				: over_x > over_y ? over_x
						  : over_y;
		}
	}
}

static void add_middle(struct cover *c)
{
	uint32_t i = c->from, k = c->from;

	while (i < c->end_x && k < c->end_y) {
		if (same_part(&c->x->parts[i], &c->y->parts[k])) {
			add_part(c->to, &c->x->parts[i++]);
			k++;
			continue;
		}
		add_any(c->to);
		if (*longest_at(c, i + 1, k) >= *longest_at(c, i, k + 1))
			i++;
		else
			k++;
	}
	if (i < c->end_x || k < c->end_y)
		add_any(c->to);
}

struct version version_cover(struct arena *a, const struct version *x, const struct version *y)
{
	struct version to = { .parts = arena_array(a, struct part, 2U * (x->nr + y->nr) + 2),
			      .guesses = x->guesses < y->guesses ? x->guesses : y->guesses };
	struct cover c = { .x = x, .y = y, .end_x = x->nr, .end_y = y->nr, .to = &to };
	size_t cells;

	while (c.from < c.end_x && c.from < c.end_y &&
	       same_part(&x->parts[c.from], &y->parts[c.from]))
		add_part(&to, &x->parts[c.from++]);
	while (c.end_x > c.from && c.end_y > c.from &&
	       same_part(&x->parts[c.end_x - 1], &y->parts[c.end_y - 1])) {
		c.end_x--;
		c.end_y--;
	}
	cells = (size_t)(c.end_x - c.from + 1) * (c.end_y - c.from + 1);
	c.longest = mem_zalloc(mem_bytes(cells, sizeof(*c.longest)));
	find_longest(&c);
	add_middle(&c);
	free(c.longest);
	for (; c.end_x < x->nr; c.end_x++)
		add_part(&to, &x->parts[c.end_x]);
	return to;
}
