/*
 * The service graph for Graphviz: a box for each node of the run, an arrow where a span of one has
 * a child or a successor on another, with the number of such calls and the mean time they took.
 */
#include "export/dot.h"

#include <stdlib.h>

#include "base/time.h"
#include "export/export.h"

#define PEN_MAX 5.0

void dot_done(struct dot_state *d)
{
	names_done(&d->nodes);
	names_done(&d->edges);
	vec_done(&d->node);
	vec_done(&d->edge);
}

static sym_t node_of(struct dot_state *d, const struct span *s)
{
	sym_t sym = names_add(&d->nodes, s->node.n ? s->node : STR("(no name)"));

	while (d->node.nr <= sym)
		vec_push(&d->node, (struct dot_node){ 0 });
	return sym;
}

static void add_call(struct dot_state *d, sym_t from, sym_t to, const struct span *called)
{
	sym_t pair[2] = { from, to };
	sym_t sym = names_add(&d->edges, (struct str){ (const char *)pair, sizeof(pair) });

	while (d->edge.nr <= sym)
		vec_push(&d->edge, (struct dot_edge){ .from = from, .to = to });
	d->edge.v[sym].count++;
	d->edge.v[sym].errors += called->status == STATUS_ERROR;
	d->edge.v[sym].total_ns += (double)(called->end - called->start);
}

void dot_request(void *state, const struct fed *x, struct buf *out)
{
	const struct request_body *b = x->body;
	struct dot_state *d = state;
	sym_t *node = arena_array(x->arena, sym_t, b->nr_spans);

	(void)out;
	for (size_t i = 0; i < b->nr_spans; i++) {
		const struct span *s = &b->spans[i];

		node[i] = node_of(d, s);
		d->node.v[node[i]].spans++;
		d->node.v[node[i]].errors += s->status == STATUS_ERROR;
	}
	for (size_t i = 0; i < b->nr_spans; i++) {
		uint32_t parent = b->spans[i].parent;

		if (parent < b->nr_spans && node[parent] != node[i])
			add_call(d, node[parent], node[i], &b->spans[i]);
	}
	for (size_t i = 0; i < b->nr_edges; i++) {
		const struct edge *e = &b->edges[i];

		if (e->from < b->nr_spans && e->to < b->nr_spans && node[e->from] != node[e->to] &&
		    b->spans[e->to].parent != e->from && e->kind != EDGE_RETURN)
			add_call(d, node[e->from], node[e->to], &b->spans[e->to]);
	}
}

void dot_quoted(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (c == '"' || c == '\\')
			buf_char(out, '\\');
		buf_char(out, c < 0x20 ? ' ' : (char)c);
	}
}

static void add_node(struct dot_state *d, sym_t sym, struct buf *out)
{
	const struct dot_node *n = &d->node.v[sym];

	buf_fmt(out, "\tn%u [label=\"", sym);
	dot_quoted(out, names_str(&d->nodes, sym));
	buf_fmt(out, "\\n%llu spans", (unsigned long long)n->spans);
	if (n->errors)
		buf_fmt(out, ", %llu errors", (unsigned long long)n->errors);
	buf_add(out, n->errors ? STR("\", color=\"#b2182b\"];\n") : STR("\"];\n"));
}

static void add_edge(const struct dot_edge *e, double most_ns, struct buf *out)
{
	struct buf mean = { 0 };

	time_span_text(&mean, (int64_t)(e->total_ns / (double)e->count));
	buf_fmt(out, "\tn%u -> n%u [label=\"%llu × " STR_FMT, e->from, e->to,
		(unsigned long long)e->count, STR_ARG(buf_str(&mean)));
	if (e->errors)
		buf_fmt(out, "\\n%llu errors", (unsigned long long)e->errors);
	buf_fmt(out, "\", penwidth=%.2f%s];\n",
		1 + (most_ns > 0 ? (PEN_MAX - 1) * e->total_ns / most_ns : 0),
		e->errors ? ", color=\"#b2182b\"" : "");
	buf_done(&mean);
}

static int edge_cmp(const void *a, const void *b)
{
	const struct dot_edge *l = a, *r = b;

	if (l->from != r->from)
		return l->from < r->from ? -1 : 1;
	return l->to < r->to ? -1 : l->to > r->to;
}

void dot_end(void *state, struct buf *out)
{
	struct dot_state *d = state;
	double most_ns = 0;

	/* number 0 of both tables is the empty name */
	for (size_t i = 1; i < d->edge.nr; i++)
		if (d->edge.v[i].total_ns > most_ns)
			most_ns = d->edge.v[i].total_ns;
	buf_add(out, STR("digraph culprit {\n"
			 "\trankdir=LR;\n"
			 "\tnode [shape=box, style=rounded, fontname=\"sans-serif\"];\n"
			 "\tedge [fontname=\"sans-serif\", fontsize=10];\n"));
	for (sym_t sym = 1; sym < d->node.nr; sym++)
		add_node(d, sym, out);
	if (d->edge.nr > 2)
		qsort(d->edge.v + 1, d->edge.nr - 1, sizeof(*d->edge.v), edge_cmp);
	for (size_t i = 1; i < d->edge.nr; i++)
		add_edge(&d->edge.v[i], most_ns, out);
	buf_add(out, STR("}\n"));
}

static int write_dot(struct store *s, FILE *to, struct error *err)
{
	const struct feed feed = { .request = dot_request, .end = dot_end };
	struct dot_state state = { 0 };
	int r = feed_run(s, &feed, &state, to, err);

	dot_done(&state);
	return r;
}

const struct exporter export_dot = {
	.name = "dot",
	.summary = "the graph of who calls whom, for Graphviz",
	.suffix = ".dot",
	.write = write_dot,
};
