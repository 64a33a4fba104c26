#include "export/feed.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/time.h"
#include "base/vec.h"
#include "model/attr.h"
#include "store/store.h"

/*
 * Requests come in an order of the store's own, and their events lie elsewhere, in blocks that cost
 * much to open. So requests are held until they fill a batch; then the events of all of them are
 * fetched in the order in which they are stored, each block once, and the batch is handed on.
 */

#define FLUSH_BYTES ((size_t)256 << 10)
#define BATCH_BYTES ((size_t)48 << 20)
#define TEXT_BYTES_MAX ((size_t)64 << 10) /* of one event; a line may be of 100 MB */

struct held {
	struct request r;
	struct request_body body;
	struct event *events;
};

struct wanted {
	uint64_t number;
	struct event *to;
};

struct walk {
	struct store *s;
	const struct feed *feed;
	void *state;
	FILE *to;
	struct error *err;
	struct buf out, text;
	struct arena batch; /* what is held, and its events */
	struct arena arena; /* of the request at hand */
	size_t batch_bytes;
	VEC(struct held) held;
	VEC(struct wanted) wanted;
	const struct wanted *next; /* the event that comes next out of the store */
};

int feed_flush(struct buf *out, FILE *to, struct error *err)
{
	if (out->n && fwrite(out->p, 1, out->n, to) != out->n)
		return error_set(err, errno ? errno : EIO, "cannot write the export: %s",
				 strerror(errno ? errno : EIO));
	buf_clear(out);
	return 0;
}

static struct str keep(struct walk *w, struct str s)
{
	w->batch_bytes += s.n + 16;
	return s.n ? arena_str(&w->batch, s) : STR("");
}

static int keep_event(void *ctx, uint64_t number, const struct event *ev)
{
	struct walk *w = ctx;
	struct event *to = w->next++->to;

	(void)number;
	*to = *ev;
	to->node = keep(w, ev->node);
	to->thread = keep(w, ev->thread);
	to->point = keep(w, ev->point);
	to->attrs = keep(w, ev->attrs);
	to->text = keep(w, ev->text);
	to->id = keep(w, ev->id);
	to->key = to->span = to->title = to->peer = to->after = STR("");
	return 0;
}

/* The raw line, when the event has no text of its own; a very long one is cut, and says so. */
static void fetch_text(struct walk *w, struct event *ev)
{
	struct error gone = { 0 };
	struct str text;

	if (ev->text.n || !ev->length)
		return;
	buf_clear(&w->text);
	if (store_event_text(w->s, ev, &w->text, &gone) != 1)
		return;
	text = buf_str(&w->text);
	while (text.n && (text.p[text.n - 1] == '\n' || text.p[text.n - 1] == '\r'))
		text.n--;
	w->text.n = text.n < TEXT_BYTES_MAX ? text.n : TEXT_BYTES_MAX;
	if (text.n > TEXT_BYTES_MAX)
		buf_fmt(&w->text, " … (%zu bytes)", text.n);
	ev->text = keep(w, buf_str(&w->text));
}

static int by_number(const void *a, const void *b)
{
	const struct wanted *l = a, *r = b;

	return l->number < r->number ? -1 : l->number > r->number;
}

/* Fills the events of all that is held. Numbers that follow each other are asked for together. */
static int fetch_events(struct walk *w)
{
	struct wanted *v = w->wanted.v;

	if (w->wanted.nr)
		qsort(v, w->wanted.nr, sizeof(*v), by_number);
	for (size_t i = 0, nr; i < w->wanted.nr; i += nr) {
		int r;

		for (nr = 1; i + nr < w->wanted.nr && v[i + nr].number == v[i].number + nr;)
			nr++;
		w->next = &v[i];
		r = store_each_event(w->s, v[i].number, nr, keep_event, w, w->err);
		if (r)
			return r;
	}
	for (size_t i = 0; i < w->wanted.nr; i++)
		fetch_text(w, v[i].to);
	return 0;
}

/* Chains of items by span. From the last, so that each chain comes out in order. */
static uint32_t *chain(struct arena *a, size_t nr_spans, uint32_t *next, size_t nr,
		       uint32_t (*span_of)(const struct request_body *b, size_t i),
		       const struct request_body *b)
{
	uint32_t *first = arena_array(a, uint32_t, nr_spans);

	memset(first, 0xff, nr_spans * sizeof(*first));
	for (size_t i = nr; i-- > 0;) {
		uint32_t span = span_of(b, i) < nr_spans ? span_of(b, i) : 0;

		next[i] = first[span];
		first[span] = (uint32_t)i;
	}
	return first;
}

static uint32_t span_of_event(const struct request_body *b, size_t i)
{
	return b->event_span[i];
}

static uint32_t span_of_edge(const struct request_body *b, size_t i)
{
	return b->edges[i].to;
}

void fed_init(struct fed *x, const struct request *r, const struct request_body *body,
	      const struct event *events, struct arena *arena)
{
	*x = (struct fed){ .r = r, .body = body, .events = events, .arena = arena };
	x->next_event = arena_array(arena, uint32_t, body->nr_events);
	x->next_edge = arena_array(arena, uint32_t, body->nr_edges);
	x->first_event = chain(arena, body->nr_spans, x->next_event, events ? body->nr_events : 0,
			       span_of_event, body);
	x->first_edge =
		chain(arena, body->nr_spans, x->next_edge, body->nr_edges, span_of_edge, body);
}

static int hand_on(struct walk *w, const struct request *r, const struct request_body *body,
		   const struct event *events)
{
	struct span whole = { .start = r->start, .end = r->end, .parent = SPAN_NONE };
	struct request_body with_span = *body;
	struct fed x;

	if (!body->nr_spans) {
		whole.name = r->type;
		whole.key = r->key;
		whole.confidence = r->confidence;
		with_span.spans = &whole;
		with_span.nr_spans = 1;
	}
	fed_init(&x, r, &with_span, events, &w->arena);
	w->feed->request(w->state, &x, &w->out);
	arena_reset(&w->arena);
	return w->out.n >= FLUSH_BYTES ? feed_flush(&w->out, w->to, w->err) : 0;
}

/* No format knows a moment without a time: it stands where its span begins, and says so. */
static void place_undated(struct walk *w, struct held *h, size_t i)
{
	uint32_t span = h->body.event_span[i];
	struct event *ev = &h->events[i];
	struct buf attrs = { 0 };

	ev->ns = span < h->body.nr_spans ? h->body.spans[span].start : h->r.start;
	buf_add(&attrs, ev->attrs);
	attr_add(&attrs,
		 &(struct attr){ .type = ATTR_BOOL, .key = STR("culprit.undated"), .i = 1 });
	ev->attrs = keep(w, buf_str(&attrs));
	buf_done(&attrs);
}

/* Exported times are corrected times, of events as of spans. */
static void set_clocks(struct walk *w, struct held *h)
{
	for (size_t i = 0; i < h->body.nr_events; i++)
		if (h->events[i].ns == NS_NONE)
			place_undated(w, h, i);
		else
			h->events[i].ns = body_event_ns(&h->body, i, h->events[i].ns);
}

static int hand_on_batch(struct walk *w)
{
	int r = fetch_events(w);

	for (size_t i = 0; i < w->held.nr && !r; i++) {
		set_clocks(w, &w->held.v[i]);
		r = hand_on(w, &w->held.v[i].r, &w->held.v[i].body, w->held.v[i].events);
	}
	vec_clear(&w->held);
	vec_clear(&w->wanted);
	arena_reset(&w->batch);
	w->batch_bytes = 0;
	return r;
}

/* A copy of nr things of one size. */
static void *keep_array(struct walk *w, const void *v, size_t nr, size_t size)
{
	void *copy = arena_alloc(&w->batch, mem_bytes(nr, size));

	w->batch_bytes += nr * size;
	return nr ? memcpy(copy, v, nr * size) : copy;
}

static void keep_spans(struct walk *w, struct request_body *to, const struct request_body *from)
{
	to->spans = keep_array(w, from->spans, from->nr_spans, sizeof(*to->spans));
	for (size_t i = 0; i < from->nr_spans; i++) {
		struct span *s = &to->spans[i];

		s->key = keep(w, s->key);
		s->id = keep(w, s->id);
		s->parent_id = keep(w, s->parent_id);
		s->name = keep(w, s->name);
		s->node = keep(w, s->node);
		s->host = keep(w, s->host);
		s->thread = keep(w, s->thread);
		s->links = keep(w, s->links);
		s->attrs = keep(w, s->attrs);
	}
}

static int hold(struct walk *w, const struct request *r, const struct request_body *body)
{
	struct held h = { .r = *r, .body = *body };

	h.r.type = keep(w, r->type);
	h.r.key = keep(w, r->key);
	h.r.method = keep(w, r->method);
	keep_spans(w, &h.body, body);
	h.body.edges = keep_array(w, body->edges, body->nr_edges, sizeof(*body->edges));
	h.body.events = keep_array(w, body->events, body->nr_events, sizeof(*body->events));
	h.body.event_span =
		keep_array(w, body->event_span, body->nr_events, sizeof(*body->event_span));
	h.events = arena_array(&w->batch, struct event, body->nr_events);
	w->batch_bytes += body->nr_events * sizeof(*h.events);
	for (size_t i = 0; i < body->nr_events; i++)
		vec_push(&w->wanted, (struct wanted){ body->events[i], &h.events[i] });
	vec_push(&w->held, h);
	return w->batch_bytes >= BATCH_BYTES ? hand_on_batch(w) : 0;
}

static int one_request(void *ctx, const struct request *r, const struct request_body *body)
{
	struct walk *w = ctx;

	return w->feed->events ? hold(w, r, body) : hand_on(w, r, body, NULL);
}

int feed_run(struct store *s, const struct feed *feed, void *state, FILE *to, struct error *err)
{
	struct walk w = { .s = s, .feed = feed, .state = state, .to = to, .err = err };
	struct request_filter all = { 0 };
	int r;

	if (feed->begin)
		feed->begin(state, &w.out);
	r = store_each_body(s, &all, one_request, &w, err);
	if (!r)
		r = hand_on_batch(&w);
	if (!r && feed->end)
		feed->end(state, &w.out);
	if (!r)
		r = feed_flush(&w.out, to, err);
	buf_done(&w.out);
	buf_done(&w.text);
	vec_done(&w.held);
	vec_done(&w.wanted);
	arena_done(&w.batch);
	arena_done(&w.arena);
	return r;
}
