/* Tarjan's algorithm, with a stack of its own: call chains are deeper than ours may be. */
#include "program/components.h"

#include <stdlib.h>

struct visit {
	uint32_t method;
	uint32_t edge; /* the next to follow */
};

struct tarjan {
	const struct callgraph *g;
	const bool *wanted;
	struct components *c;
	uint32_t *index, *low; /* 0: not visited */
	bool *on_stack;
	VEC(uint32_t) stack;
	VEC(struct visit) visits;
	uint32_t next, nr_components;
};

static void enter(struct tarjan *t, uint32_t method)
{
	t->index[method] = t->low[method] = ++t->next;
	t->on_stack[method] = true;
	vec_push(&t->stack, method);
	vec_push(&t->visits, (struct visit){ method, t->g->first[method] });
}

static void leave(struct tarjan *t)
{
	uint32_t method = t->visits.v[--t->visits.nr].method, member;

	if (t->low[method] == t->index[method]) {
		do {
			member = t->stack.v[--t->stack.nr];
			t->on_stack[member] = false;
			t->c->of[member] = t->nr_components;
			t->c->order[t->c->nr++] = member;
		} while (member != method);
		t->nr_components++;
	}
	if (t->visits.nr) {
		uint32_t caller = t->visits.v[t->visits.nr - 1].method;

		if (t->low[method] < t->low[caller])
			t->low[caller] = t->low[method];
	}
}

static void walk(struct tarjan *t, uint32_t root)
{
	enter(t, root);
	while (t->visits.nr) {
		struct visit *v = &t->visits.v[t->visits.nr - 1];
		const struct call_edge *e;

		if (v->edge == t->g->first[v->method + 1]) {
			leave(t);
			continue;
		}
		e = &t->g->edges[v->edge++];
		if (e->kind != EDGE_CALL || !t->wanted[e->to])
			continue;
		if (!t->index[e->to])
			enter(t, e->to);
		else if (t->on_stack[e->to] && t->index[e->to] < t->low[v->method])
			t->low[v->method] = t->index[e->to];
	}
}

void components_find(struct components *c, const struct callgraph *g, const bool *wanted)
{
	size_t nr = g->program->methods.nr;
	struct tarjan t = { .g = g, .wanted = wanted, .c = c };

	*c = (struct components){ .order = mem_alloc(mem_bytes(nr + 1, sizeof(*c->order))),
				  .of = mem_alloc(mem_bytes(nr + 1, sizeof(*c->of))) };
	memset(c->of, 0xff, (nr + 1) * sizeof(*c->of));
	t.index = mem_zalloc(mem_bytes(nr + 1, sizeof(*t.index)));
	t.low = mem_zalloc(mem_bytes(nr + 1, sizeof(*t.low)));
	t.on_stack = mem_zalloc(nr + 1);
	for (uint32_t m = 0; m < nr; m++)
		if (wanted[m] && !t.index[m])
			walk(&t, m);
	free(t.index);
	free(t.low);
	free(t.on_stack);
	vec_done(&t.stack);
	vec_done(&t.visits);
}

void components_done(struct components *c)
{
	free(c->order);
	free(c->of);
}
