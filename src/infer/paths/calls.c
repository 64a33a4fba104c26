#include "infer/paths/calls.h"

#include <stdlib.h>

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
