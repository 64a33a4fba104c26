/*
 * lprof, section 4.3, over the whole program: the order of a method is its control flow with every
 * call replaced by the order of what is called, callees first, and with everything left out that
 * does not log. What goes in circles becomes one node that may repeat. An order that grows beyond
 * what helps is folded into one such node as well.
 *
 * Nodes are built with helpers between them that carry no point (ends of blocks, calls); at the end
 * each node is tied directly to the next ones that carry points.
 */
#include "program/order.h"

#include <stdlib.h>

#include "program/flow.h"
#include "program/graph.h"
#include "program/handled.h"

enum {
	NODES_MAX = 64,    /* of one order, with what it calls */
	OWN_MAX = 256,     /* of one order, when every callee is a single node */
	POINTS_MAX = 4096, /* of one node */
};

struct link {
	uint32_t from, to;
};

struct draft {
	VEC(struct order_node) nodes; /* helpers have no points */
	VEC(struct link) links;
	uint32_t begin, end;
};

struct maker {
	struct orders *out;
	const struct callgraph *g;
	const struct identifiers *ids;
	const struct program *program;
	struct components components;
	struct arena scratch;
	struct draft draft;
	uint32_t callee_max; /* nodes; larger orders of callees become one node */
};

static uint32_t add_node(struct draft *d, struct order_node n)
{
	vec_push(&d->nodes, n);
	return (uint32_t)d->nodes.nr - 1;
}

static void tie(struct draft *d, uint32_t from, uint32_t to)
{
	vec_push(&d->links, (struct link){ from, to });
}

static uint32_t add_point(struct maker *m, uint32_t point, bool is_exceptional)
{
	struct order_node n = { .points = arena_new(&m->scratch, uint32_t),
				.nr_points = 1,
				.is_exceptional = is_exceptional };

	*n.points = point;
	return add_node(&m->draft, n);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Sorted, each once. */
static uint32_t settle(uint32_t *v, uint32_t nr)
{
	uint32_t kept = 0;

	if (nr)
		qsort(v, nr, sizeof(*v), by_number);
	for (uint32_t i = 0; i < nr; i++)
		if (!kept || v[kept - 1] != v[i])
			v[kept++] = v[i];
	return kept;
}

/* All points of an order in one node that may repeat. */
static struct order_node folded(const struct order *o, struct arena *a)
{
	struct order_node n = {
		.is_repeated = true, .is_first = true, .is_last = true, .is_exceptional = true
	};
	uint32_t total = 0;

	for (uint32_t i = 0; i < o->nr; i++)
		total += o->nodes[i].nr_points;
	n.points = arena_array(a, uint32_t, total + 1U);
	for (uint32_t i = 0; i < o->nr; i++) {
		for (uint32_t k = 0; k < o->nodes[i].nr_points; k++)
			n.points[n.nr_points++] = o->nodes[i].points[k];
		n.is_exceptional &= o->nodes[i].is_exceptional;
	}
	n.nr_points = settle(n.points, n.nr_points);
	if (n.nr_points > POINTS_MAX)
		n.nr_points = POINTS_MAX;
	return n;
}

/* A copy of the callee's order between the two nodes. */
static void add_callee(struct maker *m, const struct order *o, uint32_t before, uint32_t after,
		       bool is_exceptional)
{
	uint32_t base = (uint32_t)m->draft.nodes.nr;
	struct order_node whole;
	struct order single = { &whole, 1, o->may_be_silent };

	if (o->nr > m->callee_max) {
		whole = folded(o, &m->scratch);
		o = &single;
	}
	for (uint32_t i = 0; i < o->nr; i++) {
		struct order_node n = o->nodes[i];

		n.next = NULL;
		n.nr_next = 0;
		n.is_exceptional |= is_exceptional;
		add_node(&m->draft, n);
		if (o->nodes[i].is_first)
			tie(&m->draft, before, base + i);
		if (o->nodes[i].is_last)
			tie(&m->draft, base + i, after);
	}
	for (uint32_t i = 0; i < o->nr; i++)
		for (uint32_t k = 0; k < o->nodes[i].nr_next; k++)
			tie(&m->draft, base + i, base + o->nodes[i].next[k]);
	if (o->may_be_silent)
		tie(&m->draft, before, after);
}

/* Calls at one place, to one or several targets. Gives the node behind it. */
static uint32_t add_call(struct maker *m, uint32_t method, uint16_t pc, uint32_t before,
			 bool is_exceptional)
{
	uint32_t after = UINT32_MAX;
	bool is_silent = false;

	callgraph_each(m->g, method, e)
	{
		if (e->pc != pc || e->kind != EDGE_CALL)
			continue;
		if (!m->ids->speaks[e->to] || m->ids->is_common[e->to] ||
		    m->components.of[e->to] == m->components.of[method]) {
			is_silent = true;
			continue;
		}
		if (after == UINT32_MAX)
			after = add_node(&m->draft, (struct order_node){ 0 });
		add_callee(m, &m->out->of[e->to], before, after, is_exceptional);
	}
	if (after == UINT32_MAX)
		return before;
	if (is_silent)
		tie(&m->draft, before, after);
	return after;
}

/* The points and calls of one block, one after the other. Gives the last node. */
static uint32_t add_block(struct maker *m, uint32_t method, const struct log_points *points,
			  const struct block *b, bool is_exceptional, uint32_t at)
{
	uint32_t point = m->ids->points_first[method], end = m->ids->points_first[method + 1];
	uint32_t edge = m->g->first[method], last = m->g->first[method + 1];

	for (uint32_t pc = b->from; pc < b->to;) {
		uint32_t next = b->to;

		while (point < end && points->v.v[point].pc < pc)
			point++;
		while (edge < last && m->g->edges[edge].pc < pc)
			edge++;
		if (point < end && points->v.v[point].pc < next)
			next = points->v.v[point].pc;
		if (edge < last && m->g->edges[edge].pc < next)
			next = m->g->edges[edge].pc;
		if (next >= b->to)
			break;
		if (point < end && points->v.v[point].pc == next) {
			uint32_t node = add_point(m, point, is_exceptional);

			tie(&m->draft, at, node);
			at = node;
		} else {
			at = add_call(m, method, (uint16_t)next, at, is_exceptional);
		}
		pc = next + 1;
	}
	return at;
}

static bool ends_here(const struct flow *f, const struct block *b)
{
	(void)f;
	return !b->nr_next;
}

static bool draft_method(struct maker *m, uint32_t method, const struct log_points *points)
{
	const struct member *member = m->program->methods.v[method].member;
	struct flow f;
	uint32_t *head;
	bool *is_handled;

	vec_clear(&m->draft.nodes);
	vec_clear(&m->draft.links);
	if (!member->code || !flow_init(&f, member->code, &m->scratch))
		return false;
	m->draft.begin = add_node(&m->draft, (struct order_node){ 0 });
	m->draft.end = add_node(&m->draft, (struct order_node){ 0 });
	head = arena_array(&m->scratch, uint32_t, f.nr + 1U);
	is_handled = handled_blocks(&f, &m->scratch);
	for (uint32_t i = 0; i < f.nr; i++)
		head[i] = add_node(&m->draft, (struct order_node){ 0 });
	tie(&m->draft, m->draft.begin, head[0]);
	for (uint32_t k = 0; k < f.nr_walk; k++) {
		const struct block *b = &f.blocks[f.walk[k]];
		uint32_t at =
			add_block(m, method, points, b, is_handled[f.walk[k]], head[f.walk[k]]);

		for (uint32_t e = 0; e < b->nr_next; e++)
			tie(&m->draft, at, head[f.edges[b->first_next + e]]);
		/* an exception may come before anything of the block was logged, or after all of it
		 */
		for (uint32_t e = b->nr_next; e < b->nr_next + b->nr_handlers; e++) {
			tie(&m->draft, head[f.walk[k]], head[f.edges[b->first_next + e]]);
			tie(&m->draft, at, head[f.edges[b->first_next + e]]);
		}
		if (ends_here(&f, b))
			tie(&m->draft, at, m->draft.end);
	}
	return m->draft.nodes.nr < 1U << 20;
}

/* The links of a draft as a graph; both arrays are the caller's to free. */
static struct graph graph_of(const struct draft *d, uint32_t **first, uint32_t **to)
{
	uint32_t nr = (uint32_t)d->nodes.nr;

	*first = mem_zalloc(mem_bytes(nr + 2U, sizeof(**first)));
	*to = mem_alloc(mem_bytes(d->links.nr + 1, sizeof(**to)));
	vec_each (&d->links, l)
		(*first)[l->from + 2]++;
	for (uint32_t i = 2; i < nr + 2; i++)
		(*first)[i] += (*first)[i - 1];
	vec_each (&d->links, l)
		(*to)[(*first)[l->from + 1]++] = l->to;
	return (struct graph){ nr, *first, *to };
}

/* One node for each component, its points together; repeated when there was a circle. */
static struct order_node merge(struct maker *m, const struct draft *d, const uint32_t *members,
			       uint32_t nr)
{
	struct order_node n = { .is_exceptional = true };
	uint32_t total = 0;

	for (uint32_t i = 0; i < nr; i++)
		total += d->nodes.v[members[i]].nr_points;
	n.points = arena_array(&m->scratch, uint32_t, total + 1U);
	for (uint32_t i = 0; i < nr; i++) {
		const struct order_node *part = &d->nodes.v[members[i]];

		for (uint32_t k = 0; k < part->nr_points; k++)
			n.points[n.nr_points++] = part->points[k];
		n.is_repeated |= part->is_repeated;
		if (part->nr_points)
			n.is_exceptional &= part->is_exceptional;
	}
	n.is_repeated |= nr > 1;
	n.is_exceptional &= n.nr_points > 0;
	n.nr_points = settle(n.points, n.nr_points);
	return n;
}

static void fold_circles(struct maker *m)
{
	struct draft *d = &m->draft, folded = { 0 };
	uint32_t *first, *to;
	struct graph g = graph_of(d, &first, &to);
	struct components c;

	components_find(&c, &g);
	for (uint32_t from = 0, end; from < g.nr; from = end) {
		for (end = from + 1; end < g.nr && c.of[c.order[end]] == c.of[c.order[from]];)
			end++;
		add_node(&folded, merge(m, d, c.order + from, end - from));
	}
	vec_each (&d->links, l)
		if (c.of[l->from] != c.of[l->to])
			tie(&folded, c.of[l->from], c.of[l->to]);
	folded.begin = c.of[d->begin];
	folded.end = c.of[d->end];
	vec_done(&d->nodes);
	vec_done(&d->links);
	*d = folded;
	components_done(&c);
	free(first);
	free(to);
}

/* The nodes with points that come next behind one, over any number of helpers. */
struct reach {
	const struct draft *d;
	const struct graph *g;
	uint32_t *stamp, now;
	VEC(uint32_t) open, found;
	bool reaches_end;
};

static void reach_from(struct reach *r, uint32_t node)
{
	vec_clear(&r->open);
	vec_clear(&r->found);
	r->reaches_end = node == r->d->end;
	r->now++;
	vec_push(&r->open, node);
	while (r->open.nr) {
		uint32_t at = r->open.v[--r->open.nr];

		for (uint32_t i = r->g->first[at]; i < r->g->first[at + 1]; i++) {
			uint32_t to = r->g->to[i];

			r->reaches_end |= to == r->d->end;
			if (r->stamp[to] == r->now)
				continue;
			r->stamp[to] = r->now;
			if (r->d->nodes.v[to].nr_points)
				vec_push(&r->found, to);
			else
				vec_push(&r->open, to);
		}
	}
}

/* Numbers the nodes with points in the order of time, so that "next" always goes up. */
static uint32_t *number_nodes(const struct draft *d, uint32_t *nr)
{
	uint32_t *number = mem_alloc(mem_bytes(d->nodes.nr + 1, sizeof(*number)));

	*nr = 0;
	/* components are numbered backwards */
	for (size_t i = d->nodes.nr; i--;)
		number[i] = d->nodes.v[i].nr_points ? (*nr)++ : UINT32_MAX;
	return number;
}

static void copy_next(struct maker *m, struct order_node *n, struct reach *r,
		      const uint32_t *number)
{
	n->next = arena_array(&m->out->arena, uint32_t, r->found.nr + 1);
	vec_each (&r->found, f)
		n->next[n->nr_next++] = number[*f];
	n->nr_next = settle(n->next, n->nr_next);
	n->is_last = r->reaches_end;
}

static void keep_order(struct maker *m, struct order *o)
{
	const struct draft *d = &m->draft;
	uint32_t *first, *to, *number = number_nodes(d, &o->nr);
	struct graph g = graph_of(d, &first, &to);
	struct reach r = { .d = d, .g = &g, .stamp = mem_zalloc((g.nr + 1) * sizeof(uint32_t)) };

	o->nodes = arena_array(&m->out->arena, struct order_node, o->nr + 1U);
	for (uint32_t i = 0; i < d->nodes.nr; i++) {
		struct order_node *n;

		if (number[i] == UINT32_MAX)
			continue;
		n = &o->nodes[number[i]];
		*n = d->nodes.v[i];
		n->points = arena_array(&m->out->arena, uint32_t, n->nr_points + 1U);
		memcpy(n->points, d->nodes.v[i].points, n->nr_points * sizeof(*n->points));
		n->next = NULL;
		n->nr_next = 0;
		n->is_first = n->is_last = false;
		reach_from(&r, i);
		copy_next(m, n, &r, number);
	}
	reach_from(&r, d->begin);
	o->may_be_silent = r.reaches_end;
	vec_each (&r.found, f)
		o->nodes[number[*f]].is_first = true;
	free(r.stamp);
	vec_done(&r.open);
	vec_done(&r.found);
	free(number);
	free(first);
	free(to);
}

/* Everything in one node that may repeat. */
static void fold_all(struct maker *m, struct order *o)
{
	o->nodes[0] = folded(o, &m->out->arena);
	o->nr = 1;
}

static uint32_t nr_speaking(const struct draft *d)
{
	uint32_t nr = 0;

	vec_each (&d->nodes, n)
		nr += n->nr_points > 0;
	return nr;
}

static void make(struct maker *m, const struct log_points *points, uint32_t method)
{
	struct order *o = &m->out->of[method];

	*o = (struct order){ .may_be_silent = true };
	/* large callees are folded first: the points of the method itself say most */
	for (m->callee_max = NODES_MAX; draft_method(m, method, points); m->callee_max /= 4) {
		uint32_t most = m->callee_max == 1 ? OWN_MAX : NODES_MAX;

		fold_circles(m);
		if (nr_speaking(&m->draft) <= most || m->callee_max == 1) {
			keep_order(m, o);
			if (o->nr > most)
				fold_all(m, o);
			break;
		}
		arena_reset(&m->scratch);
	}
	arena_reset(&m->scratch);
}

/* Methods that call each other: all their points in one node, for each of them. */
static void make_circle(struct maker *m, const struct log_points *points, const uint32_t *methods,
			uint32_t nr)
{
	struct order all = { 0 };
	VEC(struct order_node) nodes = { 0 };

	for (uint32_t i = 0; i < nr; i++) {
		make(m, points, methods[i]);
		for (uint32_t k = 0; k < m->out->of[methods[i]].nr; k++)
			vec_push(&nodes, m->out->of[methods[i]].nodes[k]);
	}
	if (nodes.nr) {
		all = (struct order){ nodes.v, (uint32_t)nodes.nr, true };
		fold_all(m, &all);
		all.nodes = arena_new(&m->out->arena, struct order_node);
		all.nodes[0] = nodes.v[0];
		for (uint32_t i = 0; i < nr; i++)
			m->out->of[methods[i]] = all;
	}
	vec_done(&nodes);
}

static bool calls_itself(const struct callgraph *g, uint32_t method)
{
	callgraph_each(g, method, e) if (e->kind == EDGE_CALL && e->to == method) return true;
	return false;
}

void orders_find(struct orders *o, const struct callgraph *g, const struct log_points *points,
		 const struct identifiers *ids)
{
	struct maker m = { .out = o, .g = g, .ids = ids, .program = g->program };
	uint32_t nr = (uint32_t)g->program->methods.nr;
	const struct components *c = &m.components;

	*o = (struct orders){ .of = mem_zalloc(mem_bytes(nr + 1U, sizeof(*o->of))) };
	identifiers_components(ids, g, &m.components);
	for (uint32_t from = 0, to; from < nr; from = to) {
		for (to = from + 1; to < nr && c->of[c->order[to]] == c->of[c->order[from]];)
			to++;
		if (!ids->speaks[c->order[from]])
			continue;
		if (to - from == 1 && !calls_itself(g, c->order[from]))
			make(&m, points, c->order[from]);
		else
			make_circle(&m, points, c->order + from, to - from);
	}
	components_done(&m.components);
	arena_done(&m.scratch);
	vec_done(&m.draft.nodes);
	vec_done(&m.draft.links);
}

void orders_done(struct orders *o)
{
	arena_done(&o->arena);
	free(o->of);
}
