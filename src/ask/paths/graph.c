#include "ask/paths/graph.h"

#include <stdlib.h>

#include "ask/length.h"
#include "report/report.h"

void graph_done(struct graph *g)
{
	names_done(&g->names);
	vec_done(&g->edges);
	vec_done(&g->nodes);
	vec_done(&g->of_name);
	free(g->slots);
	calls_done(&g->calls);
}

static size_t slot_of(const struct graph *g, sym_t from, sym_t to)
{
	uint64_t h = ((uint64_t)from << 32 | to) * 0x9e3779b97f4a7c15u;
	size_t at = (h ^ (h >> 29)) & (g->nr_slots - 1);

	for (; g->slots[at]; at = (at + 1) & (g->nr_slots - 1)) {
		const struct graph_edge *e = &g->edges.v[g->slots[at] - 1];

		if (e->from == from && e->to == to)
			break;
	}
	return at;
}

static void grow(struct graph *g)
{
	g->nr_slots = g->nr_slots ? 2 * g->nr_slots : 256;
	free(g->slots);
	g->slots = mem_zalloc(mem_bytes(g->nr_slots, sizeof(*g->slots)));
	for (uint32_t i = 0; i < g->edges.nr; i++)
		g->slots[slot_of(g, g->edges.v[i].from, g->edges.v[i].to)] = i + 1;
}

static struct graph_edge *edge_of(struct graph *g, sym_t from, sym_t to)
{
	size_t at;

	if (2 * (g->edges.nr + 1) > g->nr_slots)
		grow(g);
	at = slot_of(g, from, to);
	if (!g->slots[at]) {
		vec_push(&g->edges, (struct graph_edge){ from, to, 0, 0, 0 });
		g->slots[at] = (uint32_t)g->edges.nr;
	}
	return &g->edges.v[g->slots[at] - 1];
}

static struct graph_node *node_of(struct graph *g, sym_t name)
{
	while (g->of_name.nr <= name)
		vec_push(&g->of_name, 0);
	if (!g->of_name.v[name]) {
		vec_push(&g->nodes, (struct graph_node){ name, 0, 0, 0 });
		g->of_name.v[name] = (uint32_t)g->nodes.nr;
	}
	return &g->nodes.v[g->of_name.v[name] - 1];
}

void graph_add(struct graph *g, const struct request *r, const struct request_body *body)
{
	const struct calls *c = &g->calls;

	calls_make(&g->calls, &g->names, r, body);
	g->nr_requests += c->v.nr != 0;
	vec_each (&c->v, x) {
		bool root = x->parent == CALL_NONE;
		sym_t from = root ? names_add(&g->names, calls_client(body, x->span))
				  : c->v.v[x->parent].node;
		struct graph_edge *e = edge_of(g, from, x->node);
		struct graph_node *n = node_of(g, x->node);
		double latency = (double)length_ns(x->start, x->end);

		e->nr++;
		e->latency += latency;
		e->delay += (double)x->delay;
		n->nr++;
		n->latency += latency;
		n->self += (double)x->self;
	}
}

static int by_self(const void *a, const void *b, void *ctx)
{
	const struct graph_node *x = a, *y = b;
	const struct names *n = ctx;

	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	return str_cmp(names_str(n, x->name), names_str(n, y->name));
}

static int by_latency(const void *a, const void *b, void *ctx)
{
	const struct graph_edge *x = a, *y = b;
	const struct names *n = ctx;
	int by;

	if (x->latency != y->latency)
		return x->latency > y->latency ? -1 : 1;
	by = str_cmp(names_str(n, x->from), names_str(n, y->from));
	return by ? by : str_cmp(names_str(n, x->to), names_str(n, y->to));
}

enum { NODE, NODE_NR, NODE_MEAN, NODE_SELF, NODE_TOTAL, NODE_SHARE };

static const struct column node_columns[] = {
	[NODE] = { "node", "node", CELL_TEXT, COLUMN_WIDE },
	[NODE_NR] = { "count", "calls", CELL_COUNT, 0 },
	[NODE_MEAN] = { "mean", "mean", CELL_DURATION, 0 },
	[NODE_SELF] = { "self", "itself", CELL_DURATION, 0 },
	[NODE_TOTAL] = { "total", "itself in all", CELL_DURATION, 0 },
	[NODE_SHARE] = { "share", "share", CELL_SHARE, 0 },
};

static void report_nodes(const struct graph *g, struct report *report, size_t at_most)
{
	struct section *s = report_table(report, "node", "The nodes", node_columns,
					 sizeof(node_columns) / sizeof(*node_columns));
	double all = 0;

	s->tagged = true;
	vec_each (&g->nodes, n)
		all += n->self;
	vec_each (&g->nodes, n) {
		struct row *row;

		if (at_most && s->rows.nr >= at_most) {
			s->nr_left_out++;
			continue;
		}
		row = section_row(s);
		row_text(s, row, NODE, names_str(&g->names, n->name));
		row_int(s, row, NODE_NR, (int64_t)n->nr);
		row_int(s, row, NODE_MEAN, length_of(n->latency / (double)n->nr));
		row_int(s, row, NODE_SELF, length_of(n->self / (double)n->nr));
		row_int(s, row, NODE_TOTAL, length_of(n->self));
		row_double(s, row, NODE_SHARE, all > 0 ? n->self / all : 0);
	}
}

enum { FROM, TO, EDGE_NR, PER_CALL, EDGE_MEAN, EDGE_DELAY, EDGE_TOTAL };

static const struct column edge_columns[] = {
	[FROM] = { "from", "from", CELL_TEXT, COLUMN_WIDE },
	[TO] = { "to", "to", CELL_TEXT, COLUMN_WIDE },
	[EDGE_NR] = { "count", "calls", CELL_COUNT, 0 },
	[PER_CALL] = { "per_call", "per call", CELL_NUMBER, 0 },
	[EDGE_MEAN] = { "mean", "mean", CELL_DURATION, 0 },
	[EDGE_DELAY] = { "delay", "after", CELL_DURATION, 0 },
	[EDGE_TOTAL] = { "total", "in all", CELL_DURATION, 0 },
};

static void report_edges(const struct graph *g, struct report *report, size_t at_most)
{
	struct section *s = report_table(report, "edge", "Who calls whom", edge_columns,
					 sizeof(edge_columns) / sizeof(*edge_columns));

	s->tagged = true;
	vec_each (&g->edges, e) {
		uint32_t at = e->from < g->of_name.nr ? g->of_name.v[e->from] : 0;
		struct row *row;

		if (at_most && s->rows.nr >= at_most) {
			s->nr_left_out++;
			continue;
		}
		row = section_row(s);
		if (e->from)
			row_text(s, row, FROM, names_str(&g->names, e->from));
		row_text(s, row, TO, names_str(&g->names, e->to));
		row_int(s, row, EDGE_NR, (int64_t)e->nr);
		if (at)
			row_double(s, row, PER_CALL, (double)e->nr / (double)g->nodes.v[at - 1].nr);
		row_int(s, row, EDGE_MEAN, length_of(e->latency / (double)e->nr));
		row_int(s, row, EDGE_DELAY, length_of(e->delay / (double)e->nr));
		row_int(s, row, EDGE_TOTAL, length_of(e->latency));
	}
}

void graph_report(struct graph *g, struct report *report, size_t at_most)
{
	if (g->edges.nr)
		qsort_r(g->edges.v, g->edges.nr, sizeof(*g->edges.v), by_latency, &g->names);
	if (g->nodes.nr)
		qsort_r(g->nodes.v, g->nodes.nr, sizeof(*g->nodes.v), by_self, &g->names);
	vec_clear(&g->of_name);
	for (uint32_t i = 0; i < g->nodes.nr; i++) {
		while (g->of_name.nr <= g->nodes.v[i].name)
			vec_push(&g->of_name, 0);
		g->of_name.v[g->nodes.v[i].name] = i + 1;
	}
	report_nodes(g, report, at_most);
	report_edges(g, report, at_most);
}
