#include "export/feed.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "model/attr.h"
#include "store/store.h"

#define FLUSH_BYTES ((size_t)256 << 10)
#define TEXT_BYTES_MAX ((size_t)64 << 10) /* of one event; a line may be of 100 MB */

struct walk {
	struct store *s;
	const struct feed *feed;
	void *state;
	FILE *to;
	struct error *err;
	struct buf out, text;
	struct arena arena;
	struct event *events; /* of the request at hand */
	uint64_t first;       /* the number of the event that goes to events[at] */
	size_t at;
};

int feed_flush(struct buf *out, FILE *to, struct error *err)
{
	if (out->n && fwrite(out->p, 1, out->n, to) != out->n)
		return error_set(err, errno ? errno : EIO, "cannot write the export: %s",
				 strerror(errno ? errno : EIO));
	buf_clear(out);
	return 0;
}

static int keep_event(void *ctx, uint64_t number, const struct event *ev)
{
	struct walk *w = ctx;
	struct event *to = &w->events[w->at + (number - w->first)];

	*to = *ev;
	to->node = arena_str(&w->arena, ev->node);
	to->thread = arena_str(&w->arena, ev->thread);
	to->point = arena_str(&w->arena, ev->point);
	to->attrs = arena_str(&w->arena, ev->attrs);
	to->text = arena_str(&w->arena, ev->text);
	to->id = arena_str(&w->arena, ev->id);
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
	ev->text = arena_str(&w->arena, buf_str(&w->text));
}

/* Numbers that follow each other are asked for together. */
static int fetch_events(struct walk *w, const struct request_body *b)
{
	w->events = arena_array(&w->arena, struct event, b->nr_events);
	for (size_t i = 0, nr; i < b->nr_events; i += nr) {
		int r;

		for (nr = 1; i + nr < b->nr_events && b->events[i + nr] == b->events[i] + nr;)
			nr++;
		w->first = b->events[i];
		w->at = i;
		r = store_each_event(w->s, w->first, nr, keep_event, w, w->err);
		if (r)
			return r;
	}
	for (size_t i = 0; i < b->nr_events; i++)
		fetch_text(w, &w->events[i]);
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

static int one_request(void *ctx, const struct request *r, const struct request_body *body)
{
	struct walk *w = ctx;
	struct span whole = { .start = r->start, .end = r->end, .parent = SPAN_NONE };
	struct request_body with_span = *body;
	struct fed x;
	int failed = 0;

	if (!body->nr_spans) {
		whole.name = r->type;
		whole.key = r->key;
		whole.confidence = r->confidence;
		with_span.spans = &whole;
		with_span.nr_spans = 1;
	}
	if (w->feed->events)
		failed = fetch_events(w, body);
	if (!failed) {
		fed_init(&x, r, &with_span, w->events, &w->arena);
		w->feed->request(w->state, &x, &w->out);
		if (w->out.n >= FLUSH_BYTES)
			failed = feed_flush(&w->out, w->to, w->err);
	}
	arena_reset(&w->arena);
	w->events = NULL;
	return failed;
}

int feed_run(struct store *s, const struct feed *feed, void *state, FILE *to, struct error *err)
{
	struct walk w = { .s = s, .feed = feed, .state = state, .to = to, .err = err };
	struct request_filter all = { 0 };
	int r;

	if (feed->begin)
		feed->begin(state, &w.out);
	r = store_each_body(s, &all, one_request, &w, err);
	if (!r && feed->end)
		feed->end(state, &w.out);
	if (!r)
		r = feed_flush(&w.out, to, err);
	buf_done(&w.out);
	buf_done(&w.text);
	arena_done(&w.arena);
	return r;
}
