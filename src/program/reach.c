#include "program/reach.h"

#include <stdlib.h>

#include "program/dominance.h"
#include "program/flow.h"

enum {
	WAYS_MAX = 24,     /* to one method */
	VISITS_MAX = 4000, /* methods looked at on the way up */
};

struct visit {
	uint32_t method;
	uint32_t before; /* visit that it calls, UINT32_MAX for none */
	uint16_t pc;
};

struct walk {
	VEC(struct visit) visits;
	VEC(struct way) ways;
};

void reach_init(struct reach *r, const struct callgraph *g, const struct identifiers *ids)
{
	size_t nr = g->program->methods.nr + 1;

	*r = (struct reach){ .g = g, .ids = ids };
	r->of = mem_zalloc(mem_bytes(nr, sizeof(*r->of)));
	r->stamp = mem_zalloc(mem_bytes(nr, sizeof(*r->stamp)));
}

void reach_done(struct reach *r)
{
	arena_done(&r->arena);
	free(r->of);
	free(r->stamp);
}

/* Where a thread, or the answer to another process, begins. */
static bool is_begun(const struct callgraph *g, uint32_t method)
{
	for (uint32_t i = g->first_in[method]; i < g->first_in[method + 1]; i++)
		if (callgraph_in_is(g, i, EDGE_START) || callgraph_in_is(g, i, EDGE_REMOTE))
			return true;
	return false;
}

static void add_way(struct reach *r, struct walk *w, uint32_t visit, bool is_link)
{
	struct way way = { .from = w->visits.v[visit].method, .is_link = is_link };
	uint32_t nr = 0;

	for (uint32_t v = visit; w->visits.v[v].before != UINT32_MAX; v = w->visits.v[v].before)
		nr++;
	way.steps = arena_array(&r->arena, struct step, nr + 1U);
	way.nr = nr;
	for (uint32_t v = visit; nr; v = w->visits.v[v].before)
		way.steps[--nr] = (struct step){ w->visits.v[v].method, w->visits.v[v].pc };
	vec_push(&w->ways, way);
}

static void visit_callers(struct reach *r, struct walk *w, uint32_t visit)
{
	uint32_t method = w->visits.v[visit].method;

	for (uint32_t i = r->g->first_in[method]; i < r->g->first_in[method + 1]; i++) {
		uint32_t caller = r->g->in[i];

		if (r->stamp[caller] == r->now)
			continue;
		callgraph_each(r->g, caller, e)
		{
			if (e->to != method || e->kind != EDGE_CALL)
				continue;
			r->stamp[caller] = r->now;
			vec_push(&w->visits, (struct visit){ caller, visit, e->pc });
			break;
		}
	}
}

const struct ways *reach_to(struct reach *r, uint32_t method)
{
	struct ways *out = &r->of[method];
	struct walk w = { 0 };

	if (out->is_known)
		return out;
	r->stamp[method] = ++r->now;
	vec_push(&w.visits, (struct visit){ method, UINT32_MAX, 0 });
	for (uint32_t at = 0; at < w.visits.nr && w.ways.nr <= WAYS_MAX && at < VISITS_MAX; at++) {
		uint32_t m = w.visits.v[at].method;

		if (r->ids->top[m] != TOP_NOT)
			add_way(r, &w, at, false);
		else if (is_begun(r->g, m))
			add_way(r, &w, at, true);
		else
			visit_callers(r, &w, at);
	}
	out->is_known = true;
	out->is_wide = w.ways.nr > WAYS_MAX || w.visits.nr > VISITS_MAX;
	out->nr = out->is_wide ? 0 : (uint32_t)w.ways.nr;
	out->v = arena_array(&r->arena, struct way, out->nr + 1U);
	for (uint32_t i = 0; i < out->nr; i++)
		out->v[i] = w.ways.v[i];
	vec_done(&w.visits);
	vec_done(&w.ways);
	return out;
}

bool reach_is_repeated(const struct program *p, uint32_t method, uint16_t pc)
{
	const struct code *code = p->methods.v[method].member->code;
	struct arena scratch = { 0 };
	struct flow f;
	bool is_repeated = false;

	if (code && flow_init(&f, code, &scratch))
		for (uint32_t i = 0; i < f.nr; i++)
			if (f.blocks[i].from <= pc && pc < f.blocks[i].to)
				is_repeated = flow_returns(&f, i, NO_BLOCK);
	arena_done(&scratch);
	return is_repeated;
}
