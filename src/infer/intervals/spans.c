/*
 * What an interval is made of, as spans: calls, waits, and a span for each stretch on a further
 * thread. Where several calls became one item, so do their spans, and an attribute tells how many.
 */
#include "base/buf.h"
#include "infer/intervals/state.h"
#include "model/attr.h"

#define SAME_NS 1000

struct making {
	struct intervals *s;
	struct done_interval *d;
	VEC(struct span) spans;
	VEC(struct edge) edges;
	VEC(struct tree_frame) frames; /* node: the span */
	struct buf attrs;
	size_t nr_of_segments;   /* spans; behind them are waits of no thread */
	struct str node, thread; /* of what is added now */
	int64_t low, high;       /* spans are cut to this */
};

static struct str name_of(struct making *m, uint32_t function)
{
	if (function >= PART_WAIT)
		return arena_fmt(&m->d->arena, "wait:%s",
				 wait_why_name((enum wait_why)(function - PART_WAIT)));
	if (function < m->s->functions.nr)
		return m->s->functions.v[function].name;
	return arena_fmt(&m->d->arena, "function %u", function);
}

static void set_thread(struct making *m, const struct track *t)
{
	m->node = arena_fmt(&m->d->arena, "%u", t->process);
	m->thread = arena_fmt(&m->d->arena, "%u", t->thread);
}

static uint32_t add_span(struct making *m, uint32_t parent, uint32_t function, int64_t start,
			 int64_t end)
{
	struct span v = { .start = start > m->low ? start : m->low,
			  .end = end < m->high ? end : m->high,
			  .parent = parent,
			  .kind = function >= PART_WAIT ? SPAN_WAIT : SPAN_INTERNAL,
			  .confidence = 1,
			  .name = name_of(m, function),
			  .node = m->node,
			  .thread = m->thread };

	if (v.end < v.start)
		v.end = v.start;
	vec_push(&m->spans, v);
	return (uint32_t)m->spans.nr - 1;
}

/* Around the segment, or the call that it is: its span stands for that. */
static bool is_span_of(const struct segment *g, const struct log_item *i, uint32_t span)
{
	if (i->end >= g->end && (i->start <= g->start || i->function == g->opener))
		return true;
	/* times of marks and of calls may be told by clocks that differ by a little */
	return span && i->function == g->opener && i->start <= g->start + SAME_NS;
}

static void add_items(struct making *m, uint32_t parent, const struct log_item *items, size_t nr,
		      const struct segment *g)
{
	vec_clear(&m->frames);
	vec_push(&m->frames, (struct tree_frame){ .node = parent });
	for (size_t at = nr; at-- > 0;) {
		const struct log_item *i = &items[at];
		uint32_t span;

		while (at < m->frames.v[m->frames.nr - 1].low)
			m->frames.nr--;
		if (i->end < m->low || i->start > m->high) {
			at -= i->size - 1;
			continue;
		}
		if (g && is_span_of(g, i, parent))
			continue;
		span = add_span(m, m->frames.v[m->frames.nr - 1].node, i->function, i->start,
				i->end);
		if (i->nr > 1) {
			buf_clear(&m->attrs);
			attr_add_int(&m->attrs, STR("calls"), i->nr);
			attr_add_int(&m->attrs, STR("ns"), i->ns);
			m->spans.v[span].attrs = arena_str(&m->d->arena, buf_str(&m->attrs));
		}
		if (i->size > 1)
			vec_push(&m->frames,
				 (struct tree_frame){ .low = at - (i->size - 1), .node = span });
	}
}

static void finish(struct making *m)
{
	struct done_interval *d = m->d;

	d->body.nr_spans = m->spans.nr;
	d->body.nr_edges = m->edges.nr;
	d->body.spans = arena_array(&d->arena, struct span, m->spans.nr + 1);
	d->body.edges = arena_array(&d->arena, struct edge, m->edges.nr + 1);
	for (size_t i = 0; i < m->spans.nr; i++)
		d->body.spans[i] = m->spans.v[i];
	for (size_t i = 0; i < m->edges.nr; i++)
		d->body.edges[i] = m->edges.v[i];
	d->v.body = &d->body;
	vec_done(&m->spans);
	vec_done(&m->edges);
	vec_done(&m->frames);
	buf_done(&m->attrs);
}

void spans_of_call(struct intervals *s, struct done_interval *d, const struct track *t,
		   const struct log_item *items, size_t nr)
{
	struct making m = { .s = s, .d = d, .low = d->v.start, .high = d->v.end };

	set_thread(&m, t);
	add_items(&m, SPAN_NONE, items, nr, NULL);
	finish(&m);
}

/* The span of the segment that held the moment. */
static uint32_t span_at(const struct under_way *w, const uint32_t *spans, uint32_t thread,
			int64_t ns)
{
	const struct segment *g = path_segment(w, thread, ns);

	for (size_t i = 0; g && i < w->segments.nr; i++)
		if (w->segments.v[i] == g)
			return spans[i];
	return SPAN_NONE;
}

static void add_edge(struct making *m, uint32_t from, uint32_t to, enum edge_kind kind)
{
	if (from != SPAN_NONE && from != to)
		vec_push(&m->edges, (struct edge){ from, to, kind, 1 });
}

static void add_edges(struct making *m, const struct under_way *w, const uint32_t *spans)
{
	for (size_t i = 0; i < w->segments.nr; i++) {
		const struct segment *g = w->segments.v[i];

		if (g->from.thread != NO_THREAD)
			add_edge(m, span_at(w, spans, g->from.thread, g->from.ns), spans[i],
				 EDGE_HANDOFF);
		vec_each (&g->waits, v)
			add_edge(m, span_at(w, spans, v->waker, v->woken), spans[i], EDGE_WAKEUP);
	}
}

static bool is_on(const struct path *p, uint32_t thread, const struct span *v)
{
	for (size_t i = 0; i < p->v.nr; i++) {
		const struct path_stretch *x = &p->v.v[i];

		if (x->thread == thread && x->from < v->end && x->to > v->start)
			return true;
	}
	return false;
}

/* What a thread did beside the path nobody waited for: who walks over the spans goes the same way.
 */
static void leave_others(struct making *m, const struct under_way *w, const struct path *p,
			 const uint32_t *spans)
{
	for (size_t i = 0; i < w->segments.nr; i++) {
		/* spans of a segment stand behind it, in front of those of the next */
		size_t end = i + 1 < w->segments.nr ? spans[i + 1] : m->nr_of_segments;

		for (size_t k = spans[i] ? spans[i] : 1; k < end; k++)
			m->spans.v[k].follows = !is_on(p, w->segments.v[i]->thread, &m->spans.v[k]);
	}
}

void spans_of_segments(struct intervals *s, struct done_interval *d, const struct under_way *w,
		       const struct path *p)
{
	struct making m = { .s = s, .d = d, .low = w->start, .high = w->end };
	uint32_t *spans = mem_alloc(mem_bytes(w->segments.nr + 1, sizeof(*spans)));

	set_thread(&m, &s->tracks.v[w->thread]);
	add_span(&m, SPAN_NONE, w->function, w->start, w->end);
	for (size_t i = 0; i < w->segments.nr; i++) {
		const struct segment *g = w->segments.v[i];

		m.low = g->start;
		m.high = g->end < w->end ? g->end : w->end;
		set_thread(&m, &s->tracks.v[g->thread]);
		spans[i] = i ? add_span(&m, 0, g->opener, g->start, g->end) : 0;
		add_items(&m, spans[i], g->log.items.v + g->log.first,
			  g->log.items.nr - g->log.first, g);
	}
	m.low = w->start;
	m.high = w->end;
	m.nr_of_segments = m.spans.nr;
	for (size_t i = p->v.nr; i-- > 0;) {
		const struct path_stretch *v = &p->v.v[i];

		if (v->thread == NO_THREAD)
			add_span(&m, 0, PART_WAIT + WAIT_QUEUE, v->from, v->to);
	}
	add_edges(&m, w, spans);
	leave_others(&m, w, p, spans);
	free(spans);
	finish(&m);
}
