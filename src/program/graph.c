/* Tarjan's algorithm, with a stack of its own: chains of calls are deeper than ours may be. */
#include "program/graph.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"

struct visit {
	uint32_t node, edge; /* the next to follow */
};

struct tarjan {
	const struct graph *g;
	struct components *c;
	uint32_t *index, *low; /* 0: not visited */
	bool *on_stack;
	VEC(uint32_t) stack;
	VEC(struct visit) visits;
	uint32_t next, nr_ordered;
};

static void enter(struct tarjan *t, uint32_t node)
{
	t->index[node] = t->low[node] = ++t->next;
	t->on_stack[node] = true;
	vec_push(&t->stack, node);
	vec_push(&t->visits, (struct visit){ node, t->g->first[node] });
}

static void leave(struct tarjan *t)
{
	uint32_t node = t->visits.v[--t->visits.nr].node, member;

	if (t->low[node] == t->index[node]) {
		do {
			member = t->stack.v[--t->stack.nr];
			t->on_stack[member] = false;
			t->c->of[member] = t->c->nr;
			t->c->order[t->nr_ordered++] = member;
		} while (member != node);
		t->c->nr++;
	}
	if (t->visits.nr) {
		uint32_t from = t->visits.v[t->visits.nr - 1].node;

		if (t->low[node] < t->low[from])
			t->low[from] = t->low[node];
	}
}

static void walk(struct tarjan *t, uint32_t root)
{
	enter(t, root);
	while (t->visits.nr) {
		struct visit *v = &t->visits.v[t->visits.nr - 1];
		uint32_t to;

		if (v->edge == t->g->first[v->node + 1]) {
			leave(t);
			continue;
		}
		to = t->g->to[v->edge++];
		if (!t->index[to])
			enter(t, to);
		else if (t->on_stack[to] && t->index[to] < t->low[v->node])
			t->low[v->node] = t->index[to];
	}
}

void components_find(struct components *c, const struct graph *g)
{
	struct tarjan t = { .g = g, .c = c };
	size_t nr = g->nr + 1U;

	*c = (struct components){ .of = mem_zalloc(mem_bytes(nr, sizeof(*c->of))),
				  .order = mem_zalloc(mem_bytes(nr, sizeof(*c->order))) };
	t.index = mem_zalloc(mem_bytes(nr, sizeof(*t.index)));
	t.low = mem_zalloc(mem_bytes(nr, sizeof(*t.low)));
	t.on_stack = mem_zalloc(nr);
	for (uint32_t n = 0; n < g->nr; n++)
		if (!t.index[n])
			walk(&t, n);
	free(t.index);
	free(t.low);
	free(t.on_stack);
	vec_done(&t.stack);
	vec_done(&t.visits);
}

void components_done(struct components *c)
{
	free(c->of);
	free(c->order);
}
