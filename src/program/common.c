/*
 * Reading a configuration, looking up a user, closing files: such code logs on behalf of whatever
 * calls it. In the order of each piece of work it would stand everywhere and say nothing. It is
 * known by its share: an eighth of all top-level methods lead to it. With many of them a sample,
 * evenly taken, decides.
 */
#include "program/common.h"

#include <stdlib.h>

enum {
	SAMPLE_MAX = 512,
	SHARE = 8, /* one in so many */
	LEAST = 48 /* in programs with fewer top-level methods nothing is common */
};

struct walk {
	const struct identifiers *ids;
	const struct callgraph *g;
	uint32_t *stamp, *count; /* by method */
	VEC(uint32_t) open;
};

static void walk_from(struct walk *w, uint32_t top, uint32_t now)
{
	vec_push(&w->open, top);
	w->stamp[top] = now;
	while (w->open.nr) {
		uint32_t at = w->open.v[--w->open.nr];

		callgraph_each(w->g, at, e)
		{
			if (e->kind != EDGE_CALL || w->stamp[e->to] == now ||
			    !w->ids->speaks[e->to])
				continue;
			w->stamp[e->to] = now;
			w->count[e->to]++;
			vec_push(&w->open, e->to);
		}
	}
}

void common_find(struct identifiers *i, const struct callgraph *g)
{
	size_t nr = g->program->methods.nr + 1, step = i->tops.nr / SAMPLE_MAX + 1;
	struct walk w = { .ids = i, .g = g };
	uint32_t walks = 0;

	i->is_common = mem_zalloc(nr);
	if (i->tops.nr < LEAST)
		return;
	w.stamp = mem_zalloc(mem_bytes(nr, sizeof(*w.stamp)));
	w.count = mem_zalloc(mem_bytes(nr, sizeof(*w.count)));
	for (size_t t = 0; t < i->tops.nr; t += step)
		walk_from(&w, i->tops.v[t], ++walks);
	for (size_t m = 0; m + 1 < nr; m++)
		i->is_common[m] = w.count[m] > walks / SHARE;
	free(w.stamp);
	free(w.count);
	vec_done(&w.open);
}
