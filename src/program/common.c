/*
 * Reading a configuration, looking up a user, closing files: such code logs on behalf of whatever
 * calls it. In the order of each piece of work it would stand everywhere and say nothing. It is
 * known by its share of all top-level methods: two of five lead to it, while what serves requests
 * of many kinds was never seen to reach that. With many of them a sample, evenly taken, decides.
 */
#include "program/common.h"

#include <stdlib.h>

enum {
	SAMPLE_MAX = 512,
	SHARE = 40, /* percent of them, at least */
	LEAST = 48  /* in programs with fewer top-level methods nothing is common */
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

static bool has_points(const struct identifiers *i, uint32_t method)
{
	return i->points_first[method] != i->points_first[method + 1];
}

/* Methods that lead to something logged by other than common code. */
static bool *find_telling(const struct identifiers *i, const struct callgraph *g)
{
	bool *tells = mem_zalloc(g->program->methods.nr + 1);
	VEC(uint32_t) open = { 0 };

	for (uint32_t m = 0; m < g->program->methods.nr; m++) {
		if (i->is_common[m] || !has_points(i, m))
			continue;
		tells[m] = true;
		vec_push(&open, m);
	}
	while (open.nr) {
		uint32_t m = open.v[--open.nr];

		for (uint32_t k = g->first_in[m]; k < g->first_in[m + 1]; k++) {
			uint32_t caller = g->in[k];

			if (tells[caller] || i->is_common[caller] ||
			    !callgraph_in_is(g, k, EDGE_CALL))
				continue;
			tells[caller] = true;
			vec_push(&open, caller);
		}
	}
	vec_done(&open);
	return tells;
}

/* No request begins in common code, or where nothing else follows; threads do, and answers. */
static void drop_tops(struct identifiers *i, const struct callgraph *g)
{
	bool *tells = find_telling(i, g);
	size_t kept = 0;

	for (size_t t = 0; t < i->tops.nr; t++) {
		uint32_t m = i->tops.v[t];

		if ((i->top[m] == TOP_DROP || i->top[m] == TOP_ROOT) && !tells[m])
			i->top[m] = TOP_NOT;
		else
			i->tops.v[kept++] = m;
	}
	i->tops.nr = kept;
	free(tells);
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
		i->is_common[m] = w.count[m] >= walks * SHARE / 100;
	drop_tops(i, g);
	free(w.stamp);
	free(w.count);
	vec_done(&w.open);
}
