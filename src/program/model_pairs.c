/* The pairs of a model, and the names that threads are given. */
#include <stdlib.h>

#include "program/model_making.h"

static struct disk_range add_shared(struct making *m, const struct pair *p)
{
	struct disk_range r = { making_nr(m, SECTION_SHARED), p->nr_shared };

	for (uint32_t i = 0; i < p->nr_shared; i++) {
		struct disk_shared d = { making_path(m, &p->shared[i].from),
					 making_path(m, &p->shared[i].to) };

		making_add(m, SECTION_SHARED, &d);
	}
	return r;
}

static void add_pair(struct making *m, const struct pair *p)
{
	struct disk_pair d = { .from = making_method(m, p->from),
			       .to = making_method(m, p->to),
			       .flags = p->kind,
			       .where = making_method(m, p->method),
			       .line = p->line,
			       .through = making_string(m, p->through),
			       .shared = add_shared(m, p) };

	d.flags |= p->is_many ? PAIR_TO_MANY : 0;
	d.flags |= p->from_is_link ? PAIR_FROM_LINK : 0;
	d.flags |= p->to_is_link ? PAIR_TO_LINK : 0;
	making_add(m, SECTION_PAIRS, &d);
}

/* An end of a pair. */
struct end {
	uint32_t top, pair;
};

static int by_top(const void *a, const void *b)
{
	const struct end *x = a, *y = b;

	if (x->top != y->top)
		return x->top < y->top ? -1 : 1;
	return x->pair < y->pair ? -1 : x->pair > y->pair;
}

/* By top: the pairs that lead to it or away from it. */
static void turn_round(struct making *m)
{
	const struct disk_pair *pairs = (const void *)m->sections[SECTION_PAIRS].v;
	const struct disk_method *methods = (const void *)m->sections[SECTION_METHODS].v;
	struct disk_top *tops = (void *)m->sections[SECTION_TOPS].v;
	VEC(struct end) ends = { 0 };
	VEC(uint32_t) list = { 0 };

	for (uint32_t i = 0; i < making_nr(m, SECTION_PAIRS); i++) {
		uint32_t from = methods[pairs[i].from].top, to = methods[pairs[i].to].top;

		if (from != MODEL_NONE)
			vec_push(&ends, (struct end){ from, i });
		if (to != MODEL_NONE && to != from)
			vec_push(&ends, (struct end){ to, i });
	}
	if (ends.nr)
		qsort(ends.v, ends.nr, sizeof(*ends.v), by_top);
	for (size_t from = 0, to; from < ends.nr; from = to) {
		vec_clear(&list);
		for (to = from; to < ends.nr && ends.v[to].top == ends.v[from].top; to++)
			vec_push(&list, ends.v[to].pair);
		tops[ends.v[from].top].pairs =
			making_list(m, SECTION_PAIR_LISTS, list.v, (uint32_t)list.nr);
	}
	vec_done(&ends);
	vec_done(&list);
}

void making_pairs(struct making *m)
{
	vec_each (&m->learned->pairs.v, p)
		add_pair(m, p);
	turn_round(m);
	vec_each (&m->learned->thread_names.v, t) {
		struct disk_name d = {
			.method = making_method(m, t->method),
			.runs = t->runs == NO_METHOD ? MODEL_NONE : making_method(m, t->runs),
			.line = t->line,
			.is_own = t->is_own,
			.versions = making_text(m, &t->text, MODEL_NONE, t->method),
		};

		making_add(m, SECTION_NAMES, &d);
	}
	arena_reset(&m->scratch);
}
