/*
 * The methods of a model where requests begin: identifiers, order, and the points that belong to
 * each. A point belongs to every such method that reaches it by calls without passing another one,
 * or code that much of all work passes through; the order of a method passes the others too.
 */
#include <stdlib.h>

#include "program/model_making.h"

/* Calls between methods that log, a walk over them, and what it found. */
struct walk {
	uint32_t *first, *to; /* by method */
	uint32_t *stamp, now;
	VEC(uint32_t) open, points;
};

static void walk_init(struct walk *w, const struct learned *l)
{
	const struct callgraph *g = &l->graph;
	uint32_t nr = (uint32_t)l->program->methods.nr, at = 0;

	*w = (struct walk){ .first = mem_alloc(mem_bytes(nr + 1U, sizeof(*w->first))),
			    .stamp = mem_zalloc(mem_bytes(nr + 1U, sizeof(*w->stamp))) };
	w->to = mem_alloc(mem_bytes(g->first[nr] + 1U, sizeof(*w->to)));
	for (uint32_t m = 0; m < nr; m++) {
		w->first[m] = at;
		w->now++;
		if (!l->identifiers.speaks[m])
			continue;
		callgraph_each(g, m, e)
		{
			if (e->kind != EDGE_CALL || !l->identifiers.speaks[e->to] ||
			    l->identifiers.is_common[e->to] ||
			    l->identifiers.top[e->to] != TOP_NOT || w->stamp[e->to] == w->now)
				continue;
			w->stamp[e->to] = w->now;
			w->to[at++] = e->to;
		}
	}
	w->first[nr] = at;
}

static void walk_done(struct walk *w)
{
	free(w->first);
	free(w->to);
	free(w->stamp);
	vec_done(&w->open);
	vec_done(&w->points);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void walk_from(struct walk *w, const struct identifiers *ids, uint32_t top)
{
	vec_clear(&w->points);
	w->stamp[top] = ++w->now;
	vec_push(&w->open, top);
	while (w->open.nr) {
		uint32_t m = w->open.v[--w->open.nr];

		for (uint32_t i = ids->points_first[m]; i < ids->points_first[m + 1]; i++)
			vec_push(&w->points, i);
		for (uint32_t i = w->first[m]; i < w->first[m + 1]; i++) {
			if (w->stamp[w->to[i]] == w->now)
				continue;
			w->stamp[w->to[i]] = w->now;
			vec_push(&w->open, w->to[i]);
		}
	}
	if (w->points.nr)
		qsort(w->points.v, w->points.nr, sizeof(*w->points.v), by_number);
}

static struct disk_range add_ids(struct making *m, const struct summary *s)
{
	struct disk_range r = { making_nr(m, SECTION_IDS), s->nr };

	for (uint32_t i = 0; i < s->nr; i++) {
		struct disk_id d = { .path = making_path(m, &s->ids[i].path),
				     .name = making_path_end(m, &s->ids[i].path),
				     .count = s->ids[i].count };

		making_add(m, SECTION_IDS, &d);
	}
	return r;
}

static uint32_t flags_of(const struct order_node *n)
{
	return (n->is_repeated ? NODE_IS_REPEATED : 0) |
	       (n->is_exceptional ? NODE_IS_EXCEPTIONAL : 0) | (n->is_first ? NODE_IS_FIRST : 0) |
	       (n->is_last ? NODE_IS_LAST : 0);
}

static struct disk_node node_of(struct making *m, const struct order_node *n, uint32_t number)
{
	uint32_t *ahead = arena_array(&m->scratch, uint32_t, n->nr_next + 1U), nr = 0;

	for (uint32_t i = 0; i < n->nr_next; i++)
		if (n->next[i] > number)
			ahead[nr++] = n->next[i] - number;
	return (struct disk_node){
		.flags = flags_of(n),
		.points = making_list(m, SECTION_POINT_LISTS, n->points, n->nr_points),
		.next = making_list(m, SECTION_NODE_LISTS, ahead, nr),
	};
}

/* Methods that call each other have one order, which is kept once. */
static struct disk_range add_order(struct making *m, const struct order *o)
{
	struct disk_node *nodes = arena_array(&m->scratch, struct disk_node, o->nr + 1U);

	for (uint32_t i = 0; i < o->nr; i++)
		nodes[i] = node_of(m, &o->nodes[i], i);
	return making_list(m, SECTION_NODES, (const uint32_t *)nodes,
			   o->nr * (uint32_t)(sizeof(*nodes) / sizeof(uint32_t)));
}

static void add_top(struct making *m, struct walk *w, uint32_t method)
{
	const struct learned *l = m->learned;
	const struct order *o = &l->orders.of[method];
	struct disk_top d = { .method = making_method(m, method),
			      .flags = l->identifiers.top[method],
			      .total = l->identifiers.of[method].total,
			      .ids = add_ids(m, &l->identifiers.of[method]),
			      .nodes = add_order(m, o) };

	d.flags |= o->may_be_silent ? TOP_MAY_BE_SILENT : 0;
	walk_from(w, &l->identifiers, method);
	d.points = making_list(m, SECTION_POINT_LISTS, w->points.v, (uint32_t)w->points.nr);
	making_add(m, SECTION_TOPS, &d);
	arena_reset(&m->scratch);
}

/* The other way round: by point, the methods that it belongs to. */
static void turn_round(struct making *m)
{
	const struct disk_top *tops = (const void *)m->sections[SECTION_TOPS].v;
	struct disk_point *points = (void *)m->sections[SECTION_POINTS].v;
	const uint32_t *lists = m->sections[SECTION_POINT_LISTS].v;
	uint32_t nr_tops = making_nr(m, SECTION_TOPS), nr_points = making_nr(m, SECTION_POINTS);
	uint32_t *first = mem_zalloc(mem_bytes(nr_points + 2U, sizeof(*first))), *of;

	for (uint32_t t = 0; t < nr_tops; t++)
		for (uint32_t i = 0; i < tops[t].points.nr; i++)
			first[lists[tops[t].points.first + i] + 2]++;
	for (uint32_t i = 1; i < nr_points + 1; i++)
		first[i + 1] += first[i];
	of = mem_alloc(mem_bytes(first[nr_points + 1] + 1U, sizeof(*of)));
	for (uint32_t t = 0; t < nr_tops; t++)
		for (uint32_t i = 0; i < tops[t].points.nr; i++)
			of[first[lists[tops[t].points.first + i] + 1]++] = t;
	for (uint32_t i = 0; i < nr_points; i++) {
		points[i].flags |= first[i] == first[i + 1] ? POINT_IS_COMMON : 0;
		points[i].tops =
			making_list(m, SECTION_TOP_LISTS, of + first[i], first[i + 1] - first[i]);
	}
	free(first);
	free(of);
}

void making_tops(struct making *m)
{
	const struct identifiers *ids = &m->learned->identifiers;
	struct walk w;

	walk_init(&w, m->learned);
	vec_each (&ids->tops, method)
		add_top(m, &w, *method);
	walk_done(&w);
	turn_round(m);
}
