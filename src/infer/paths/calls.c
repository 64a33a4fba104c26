#include "infer/paths/calls.h"

#include <stdlib.h>

static void move_alternatives(struct window *w, const uint32_t *to)
{
	size_t kept = 0;

	vec_each (&w->alternatives, a) {
		if (to[a->call] == CALL_NONE)
			continue;
		a->call = to[a->call];
		w->alternatives.v[kept++] = *a;
	}
	w->alternatives.nr = kept;
}

/* From the back, so that each call moves to a place that is free already. */
void window_merge(struct window *w, const struct call *more, size_t nr, uint32_t *to)
{
	size_t old = w->calls.nr, at = old + nr;

	vec_reserve(&w->calls, at);
	w->calls.nr = at;
	for (size_t i = old, k = nr; i || k;) {
		bool is_new = !i || (k && more[k - 1].t1 >= w->calls.v[i - 1].t1);

		if (is_new) {
			w->calls.v[--at] = more[--k];
		} else {
			w->calls.v[--at] = w->calls.v[--i];
			to[i] = (uint32_t)at;
		}
	}
	vec_each (&w->calls, c)
		if (c->parent != CALL_NONE)
			c->parent = to[c->parent];
	move_alternatives(w, to);
}

void window_drop(struct window *w, uint32_t *to)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->calls.nr; i++)
		if (to[i] != CALL_NONE)
			to[i] = (uint32_t)kept++;
	for (size_t i = 0; i < w->calls.nr; i++) {
		struct call c = w->calls.v[i];

		if (to[i] == CALL_NONE)
			continue;
		if (c.parent != CALL_NONE)
			c.parent = to[c.parent];
		w->calls.v[to[i]] = c;
	}
	w->calls.nr = kept;
	move_alternatives(w, to);
}

/* Counting sort by node; both lists keep the order of the window. */
void sides_init(struct sides *s, const struct window *w)
{
	size_t nr = w->calls.nr, nodes = w->nr_nodes;

	s->in_first = mem_zalloc(mem_bytes(nodes + 2, sizeof(uint32_t)));
	s->out_first = mem_zalloc(mem_bytes(nodes + 2, sizeof(uint32_t)));
	s->in = mem_alloc(mem_bytes(nr + 1, sizeof(uint32_t)));
	s->out = mem_alloc(mem_bytes(nr + 1, sizeof(uint32_t)));
	/* counts stand two places on, so that filling turns them into the firsts of the next */
	vec_each (&w->calls, c) {
		s->in_first[c->to + 2]++;
		s->out_first[c->from + 2]++;
	}
	for (size_t i = 1; i < nodes + 2; i++) {
		s->in_first[i] += s->in_first[i - 1];
		s->out_first[i] += s->out_first[i - 1];
	}
	for (uint32_t i = 0; i < nr; i++) {
		const struct call *c = &w->calls.v[i];

		s->in[s->in_first[c->to + 1]++] = i;
		s->out[s->out_first[c->from + 1]++] = i;
	}
}

void sides_done(struct sides *s)
{
	free(s->in_first);
	free(s->out_first);
	free(s->in);
	free(s->out);
}
