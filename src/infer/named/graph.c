/*
 * Causal graphs: each event names the events that it happened after. An event becomes a span that
 * ends with it and starts with its latest predecessor, so that time is spent on the way to an
 * event; the edges stay as they were given.
 */
#include "infer/named/group.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/time.h"
#include "base/vec.h"
#include "infer/clock.h"
#include "infer/named/services.h"
#include "infer/named/tree.h"
#include "infer/named/type.h"
#include "model/loss.h"

/* The group's causal events as spans of no length yet, indexed by their ids. */
struct graph {
	struct tree tree;
	uint32_t *picked; /* by span: position in the group */
	VEC(struct edge) edges;
};

static struct span span_of(const struct event *ev)
{
	struct str process = ev->peer.n ? ev->peer : ev->node;

	return (struct span){ .start = ev->ns,
			      .end = ev->ns,
			      .parent = SPAN_NONE,
			      .kind = SPAN_INTERNAL,
			      .status = ev->level >= LEVEL_ERROR ? STATUS_ERROR : STATUS_UNSET,
			      .confidence = 1,
			      .id = ev->id,
			      .name = ev->title.n ? ev->title : ev->point,
			      .node = process,
			      .host = ev->node,
			      .thread = ev->thread };
}

static void find_edges(struct graph *g, const struct group *from, struct losses *losses)
{
	for (uint32_t i = 0; i < g->tree.nr; i++) {
		struct str after = from->events[g->picked[i]].after, id;

		while (str_take_bytes(&after, &id)) {
			uint32_t before = tree_find(&g->tree, id);

			if (before == SPAN_NONE || before == i)
				losses->count[LOSS_AFTER_MISSING]++;
			else
				vec_push(&g->edges, (struct edge){ before, i, EDGE_AFTER, 1 });
		}
	}
}

static void graph_init(struct graph *g, struct named *n, const struct group *from,
		       struct losses *losses)
{
	size_t nr = group_select(from, EVENT_POINT, &n->arena, &g->picked);
	struct span *spans = arena_array(&n->arena, struct span, nr);
	uint64_t kept_twice = losses->count[LOSS_SPANS_TWICE];

	g->edges.v = NULL;
	g->edges.nr = g->edges.room = 0;
	for (size_t i = 0; i < nr; i++)
		spans[i] = span_of(&from->events[g->picked[i]]);
	/* without parents a tree is a list by start, which is the order of picked; only duplicates
	 * would shift it */
	tree_build(&g->tree, spans, nr, &n->arena, losses);
	for (size_t i = 0, k = 0;
	     kept_twice != losses->count[LOSS_SPANS_TWICE] && i < nr && k < g->tree.nr; i++)
		if (str_eq(from->events[g->picked[i]].id, g->tree.spans[k].id))
			g->picked[k++] = g->picked[i];
	find_edges(g, from, losses);
}

void graph_survey(struct named *n, const struct group *from)
{
	struct losses unused = { 0 };
	struct graph g;

	graph_init(&g, n, from, &unused);
	if (g.tree.nr)
		clock_root(n->clock, services_clock(&g.tree.spans[0]));
	for (size_t i = 0; i < g.tree.nr; i++)
		services_see(n->services, g.tree.spans[i].node, g.tree.spans[i].host);
	vec_each (&g.edges, e) {
		const struct span *a = &g.tree.spans[e->from], *b = &g.tree.spans[e->to];

		clock_pair(n->clock, services_clock(a), services_clock(b), a->end, CLOCK_OPEN,
			   b->end, b->end);
	}
	vec_done(&g.edges);
}

static void correct(struct named *n, struct graph *g)
{
	for (size_t i = 0; i < g->tree.nr; i++) {
		struct span *s = &g->tree.spans[i];

		s->shift = clock_offset(n->clock, services_clock(s));
		s->end += s->shift;
		s->node = services_node(n->services, s->node, s->host, &n->arena);
		s->start = INT64_MIN;
	}
	vec_each (&g->edges, e) {
		struct span *s = &g->tree.spans[e->to];
		int64_t before = g->tree.spans[e->from].end;

		if (before > s->start)
			s->start = before;
	}
	for (size_t i = 0; i < g->tree.nr; i++) {
		struct span *s = &g->tree.spans[i];

		if (s->start == INT64_MIN || s->start > s->end)
			s->start = s->end;
	}
}

static int store_graph(struct named *n, struct graph *g, const struct group *from,
		       struct error *err)
{
	struct request r = { .key = from->key, .key_kind = from->key_kind, .confidence = 1 };
	struct request_body body = { .spans = g->tree.spans,
				     .nr_spans = g->tree.nr,
				     .edges = g->edges.v,
				     .nr_edges = g->edges.nr,
				     .nr_events = g->tree.nr };

	body.events = arena_array(&n->arena, uint64_t, g->tree.nr);
	body.event_span = arena_array(&n->arena, uint32_t, g->tree.nr);
	r.type = type_of_span(&n->arena, STR(""), g->tree.spans[0].name);
	r.start = INT64_MAX;
	r.end = INT64_MIN;
	for (uint32_t i = 0; i < g->tree.nr; i++) {
		body.events[i] = from->numbers[g->picked[i]];
		body.event_span[i] = i;
		if (g->tree.spans[i].start < r.start)
			r.start = g->tree.spans[i].start;
		if (g->tree.spans[i].end > r.end)
			r.end = g->tree.spans[i].end;
	}
	return group_store(n, &r, &body, err);
}

int graph_requests(struct named *n, const struct group *from, struct error *err)
{
	struct graph g;
	int got;

	graph_init(&g, n, from, n->losses);
	correct(n, &g);
	got = g.tree.nr ? store_graph(n, &g, from, err) : 0;
	vec_done(&g.edges);
	return got;
}
