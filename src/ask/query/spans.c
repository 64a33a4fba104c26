/*
 * Requests made of spans: a span is two moments, where it begins (tracepoint NAME) and where it
 * ends (NAME.exit), and every event that stands in it is one. What happened before what:
 *
 *   - a span begins before what is in it begins, and what it waits for ends before it ends;
 *   - within a span, and within a thread of a node, one thing after another in the order of that
 *     one clock: program order. Two things that overlap are in no order;
 *   - edges between spans.
 *
 * Moments of different threads are never put in order by their times.
 */
#include <errno.h>
#include <stdlib.h>

#include "ask/query/moments.h"
#include "base/error.h"
#include "base/buf.h"
#include "base/sort.h"
#include "base/time.h"
#include "model/event.h"
#include "model/request.h"
#include "store/store.h"

/* Something that happens in a span, or on a thread, by its clock. */
struct mark {
	int64_t ns;
	uint32_t moment;
	uint32_t of; /* span: as it begins or ends; SPAN_NONE: an event */
	bool is_end;
};

struct edge_of {
	uint32_t from, to; /* moments of this request */
};

/* What the next mark comes after, with when it came to be so. */
struct front {
	uint32_t moment, since;
};

struct walk {
	struct gathered *g;
	struct store *s;
	const uint8_t *is_point; /* by event: of a causal graph, told exactly elsewhere */
	uint64_t nr_events;
	uint32_t base; /* number of the first moment of the request */
	VEC(struct edge_of) edges;
	VEC(struct mark) marks;
	VEC(struct front) front;
	VEC(uint32_t) began; /* by span: how many marks of the front there were */
	struct buf name;
	const struct request *request;
	const struct request_body *body;
	struct event *events; /* of the body, with texts in the arena */
	struct arena arena;
	struct error *err;
};

static uint32_t begin_of(size_t span)
{
	return (uint32_t)(2 * span);
}

static uint32_t end_of(size_t span)
{
	return (uint32_t)(2 * span + 1);
}

static void add_edge(struct walk *w, uint32_t from, uint32_t to)
{
	struct edge_of e = { from, to };

	if (from != to)
		vec_push(&w->edges, e);
}

/* --- moments -----------------------------------------------------------------------------------
 */

static void add_span(struct walk *w, const struct span *s)
{
	struct moment m = { .ns = s->start,
			    .point = s->name,
			    .host = s->host.n ? s->host : s->node,
			    .process = s->node,
			    .thread = s->thread,
			    .id = s->id,
			    .request = w->request->key,
			    .start = s->start,
			    .end = s->end,
			    .attrs = s->attrs };

	moments_add(w->g, &m);
	buf_clear(&w->name);
	buf_add(&w->name, s->name);
	buf_add(&w->name, STR(".exit"));
	m.ns = s->end;
	m.point = buf_str(&w->name);
	moments_add(w->g, &m);
}

static void add_event(struct walk *w, size_t i)
{
	const struct event *ev = &w->events[i];
	uint32_t span = w->body->event_span ? w->body->event_span[i] : SPAN_NONE;
	struct moment m = { .ns = body_event_ns(w->body, i, ev->ns),
			    .point = ev->point.n ? ev->point : ev->title,
			    .host = ev->node,
			    .process = ev->node,
			    .thread = ev->thread,
			    .id = ev->id,
			    .request = w->request->key,
			    .start = NS_NONE,
			    .end = NS_NONE,
			    .attrs = ev->attrs };

	if (span < w->body->nr_spans) {
		m.process = w->body->spans[span].node;
		m.more = w->body->spans[span].attrs;
	}
	moments_add(w->g, &m);
}

/* --- program order ------------------------------------------------------------------------------
 */

/* At one moment of the clock nothing is known to have ended before something else began. */
static int by_time(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	if (x->is_end != y->is_end)
		return x->is_end ? 1 : -1;
	return x->moment < y->moment ? -1 : x->moment > y->moment;
}

static void after_front(struct walk *w, uint32_t moment)
{
	vec_each (&w->front, f)
		add_edge(w, f->moment, moment);
}

/* A child's end takes the place of all that stood in front when it began. */
static void take_end(struct walk *w, const struct mark *m, uint32_t now)
{
	size_t kept = 0;

	vec_each (&w->front, f)
		if (f->since > w->began.v[m->of])
			w->front.v[kept++] = *f;
	w->front.nr = kept;
	vec_push(&w->front, (struct front){ m->moment, now });
}

/* What happens in a span, which may let several things go on at once; its begin is given. */
static void chain(struct walk *w, uint32_t first)
{
	uint32_t now = 0;

	qsort(w->marks.v, w->marks.nr, sizeof(*w->marks.v), by_time);
	vec_clear(&w->front);
	vec_push(&w->front, (struct front){ first, now });
	vec_each (&w->marks, m) {
		now++;
		if (m->of != SPAN_NONE && m->is_end) {
			take_end(w, m, now);
			continue;
		}
		after_front(w, m->moment);
		if (m->of != SPAN_NONE) {
			w->began.v[m->of] = now;
		} else {
			vec_clear(&w->front);
			vec_push(&w->front, (struct front){ m->moment, now });
		}
	}
}

/* A parent that ended before its child did not wait for it. */
static bool is_awaited(const struct request_body *b, size_t child)
{
	const struct span *c = &b->spans[child];

	return !c->follows && c->parent < b->nr_spans && c->end <= b->spans[c->parent].end;
}

static void mark_span(struct walk *w, size_t span, bool with_end)
{
	const struct span *s = &w->body->spans[span];

	vec_push(&w->marks, (struct mark){ s->start, begin_of(span), (uint32_t)span, false });
	if (with_end)
		vec_push(&w->marks, (struct mark){ s->end, end_of(span), (uint32_t)span, true });
}

static void mark_event(struct walk *w, size_t i)
{
	int64_t ns = body_event_ns(w->body, i, w->events[i].ns);

	vec_push(&w->marks,
		 (struct mark){ ns, (uint32_t)(2 * w->body->nr_spans + i), SPAN_NONE, false });
}

/* Whose program an event or span is part of: its parent span. */
static uint32_t owner(const struct request_body *b, size_t item)
{
	uint32_t at = item < b->nr_spans ? b->spans[item].parent
		      : b->event_span    ? b->event_span[item - b->nr_spans]
					 : SPAN_NONE;

	return at < b->nr_spans ? at : SPAN_NONE;
}

static void order_in_spans(struct walk *w)
{
	const struct request_body *b = w->body;
	size_t nr = b->nr_spans + b->nr_events;
	struct sort_item *v = mem_realloc(NULL, mem_bytes(nr + 1, sizeof(*v)));
	size_t nr_owned = 0;

	for (size_t i = 0; i < nr; i++)
		if (owner(b, i) != SPAN_NONE)
			v[nr_owned++] = (struct sort_item){ owner(b, i), i };
	sort_items(v, nr_owned);
	for (size_t i = 0; i < nr_owned;) {
		uint64_t parent = v[i].key;

		vec_clear(&w->marks);
		for (; i < nr_owned && v[i].key == parent; i++) {
			if (v[i].at >= b->nr_spans)
				mark_event(w, v[i].at - b->nr_spans);
			else
				mark_span(w, v[i].at, is_awaited(b, v[i].at));
		}
		chain(w, begin_of(parent));
		after_front(w, end_of(parent));
	}
	free(v);
}

/* What happens on a thread: one after another. Events of one moment are in the order of the log. */
static void thread_chain(struct walk *w)
{
	const struct mark *earlier = NULL, *last = NULL;

	qsort(w->marks.v, w->marks.nr, sizeof(*w->marks.v), by_time);
	vec_each (&w->marks, m) {
		if (last && last->ns < m->ns)
			earlier = last;
		if (last && last->of == SPAN_NONE && m->of == SPAN_NONE)
			add_edge(w, last->moment, m->moment);
		else if (earlier)
			add_edge(w, earlier->moment, m->moment);
		last = m;
	}
}

/* Spans and events of one thread of a node, where threads are told. */
static void order_in_threads(struct walk *w)
{
	const struct request_body *b = w->body;
	struct sort_item *v =
		mem_realloc(NULL, mem_bytes(b->nr_spans + b->nr_events + 1, sizeof(*v)));
	size_t nr = 0;

	for (size_t i = 0; i < b->nr_spans; i++)
		if (b->spans[i].thread.n)
			v[nr++] = (struct sort_item){
				str_hash(b->spans[i].thread) * 31 + str_hash(b->spans[i].node), i
			};
	for (size_t i = 0; i < b->nr_events; i++)
		if (w->events[i].thread.n)
			v[nr++] = (struct sort_item){ str_hash(w->events[i].thread) * 31 +
							      str_hash(w->events[i].node),
						      b->nr_spans + i };
	sort_items(v, nr);
	for (size_t i = 0; i < nr;) {
		uint64_t thread = v[i].key;

		vec_clear(&w->marks);
		for (; i < nr && v[i].key == thread; i++) {
			if (v[i].at >= b->nr_spans)
				mark_event(w, v[i].at - b->nr_spans);
			else
				mark_span(w, v[i].at, true);
		}
		thread_chain(w);
	}
	free(v);
}

static void told_edges(struct walk *w)
{
	const struct request_body *b = w->body;

	for (size_t i = 0; i < b->nr_spans; i++)
		add_edge(w, begin_of(i), end_of(i));
	for (size_t i = 0; i < b->nr_edges; i++) {
		const struct edge *e = &b->edges[i];

		if (e->from >= b->nr_spans || e->to >= b->nr_spans)
			continue;
		if (e->kind == EDGE_RETURN)
			add_edge(w, end_of(e->from), end_of(e->to));
		else if (e->kind == EDGE_AFTER || b->spans[e->from].end <= b->spans[e->to].start)
			add_edge(w, end_of(e->from), begin_of(e->to));
		else
			add_edge(w, begin_of(e->from), begin_of(e->to));
	}
}

/* --- requests ------------------------------------------------------------------------------------
 */

/* Edges into the form that is kept: by what they lead to. */
static void keep_edges(struct walk *w, uint32_t nr)
{
	uint32_t *at = mem_zalloc(mem_bytes(nr + 2, sizeof(*at)));
	size_t from = w->g->before.nr;

	vec_each (&w->edges, e)
		at[e->to + 1]++;
	for (uint32_t i = 0; i < nr; i++) {
		at[i + 1] += at[i];
		vec_push(&w->g->at, from + at[i + 1]);
	}
	vec_reserve(&w->g->before, from + w->edges.nr);
	w->g->before.nr = from + w->edges.nr;
	vec_each (&w->edges, e)
		w->g->before.v[from + at[e->to]++] = w->base + e->from;
	free(at);
}

struct fetching {
	struct walk *w;
	struct event *to;
};

static int take_event(void *ctx, uint64_t number, const struct event *ev)
{
	struct fetching *f = ctx;
	struct arena *a = &f->w->arena;

	(void)number;
	*f->to = *ev;
	f->to->node = arena_str(a, ev->node);
	f->to->thread = arena_str(a, ev->thread);
	f->to->point = arena_str(a, ev->point);
	f->to->title = arena_str(a, ev->title);
	f->to->id = arena_str(a, ev->id);
	f->to->attrs = arena_str(a, ev->attrs);
	return 0;
}

static int fetch_events(struct walk *w)
{
	const struct request_body *b = w->body;
	int got = 0;

	w->events = arena_array(&w->arena, struct event, b->nr_events + 1);
	for (size_t i = 0; i < b->nr_events && got >= 0; i++) {
		struct fetching f = { w, &w->events[i] };

		got = store_each_event(w->s, b->events[i], 1, take_event, &f, w->err);
	}
	return got;
}

static int take_body(void *ctx, const struct request *r, const struct request_body *body)
{
	struct walk *w = ctx;
	size_t nr = 2 * body->nr_spans + body->nr_events;
	int got;

	if (body->nr_events && body->events[0] < w->nr_events && w->is_point[body->events[0]])
		return 0;
	if (w->g->ns.nr + nr >= UINT32_MAX - 1)
		return error_set(w->err, EFBIG,
				 "the run has too many spans and events to be queried");
	w->request = r;
	w->body = body;
	w->base = (uint32_t)w->g->ns.nr;
	arena_reset(&w->arena);
	got = fetch_events(w);
	if (got < 0)
		return got;
	for (size_t i = 0; i < body->nr_spans; i++)
		add_span(w, &body->spans[i]);
	for (size_t i = 0; i < body->nr_events; i++)
		add_event(w, i);
	vec_clear(&w->edges);
	vec_clear(&w->began);
	while (w->began.nr < body->nr_spans)
		vec_push(&w->began, 0);
	told_edges(w);
	order_in_spans(w);
	order_in_threads(w);
	keep_edges(w, (uint32_t)nr);
	return 0;
}

int moments_spans(struct gathered *g, struct store *s, const uint8_t *is_point, uint64_t nr_events,
		  struct error *err)
{
	struct walk w = {
		.g = g, .s = s, .is_point = is_point, .nr_events = nr_events, .err = err
	};
	const struct request_filter all = { 0 };
	int got = store_each_body(s, &all, take_body, &w, err);

	vec_done(&w.edges);
	vec_done(&w.marks);
	vec_done(&w.front);
	vec_done(&w.began);
	buf_done(&w.name);
	arena_done(&w.arena);
	return got;
}
