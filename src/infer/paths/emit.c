/*
 * FindCallPaths of the paper (Figure 4): a request begins at each call without a parent and holds
 * all calls below it. Patterns are not aggregated here; questions do that from the store.
 */
#include "infer/paths/emit.h"

#include <stdlib.h>

#include "base/arena.h"
#include "infer/paths/alternatives.h"
#include "infer/paths/calls.h"
#include "infer/paths/feed.h"
#include "model/attr.h"
#include "model/loss.h"
#include "model/request.h"
#include "store/store.h"

struct times {
	int64_t start, end;
	bool has_kids;
};

/* Children of each call as lists by next, in the order of t1. */
struct forest {
	const struct emit *e;
	struct window *w;
	uint32_t *first, *next;
	VEC(uint32_t) order; /* the calls of one request, parents first */
	VEC(uint32_t) place; /* where the parent of each stands in order */
	VEC(uint32_t) stack;
	VEC(struct times) times; /* of each in order, as they are told */
	struct arena arena;
	struct buf attrs, text;
};

/* Later ones are put in front, so that lists come out in the order of the window. */
static void link_children(struct forest *f)
{
	const struct call *calls = f->w->calls.v;
	size_t nr = f->w->calls.nr;

	f->first = mem_alloc(mem_bytes(nr + 1, sizeof(uint32_t)));
	f->next = mem_alloc(mem_bytes(nr + 1, sizeof(uint32_t)));
	memset(f->first, 0xff, nr * sizeof(uint32_t));
	for (size_t i = nr; i-- > 0;) {
		uint32_t parent = calls[i].parent;

		if (parent == CALL_NONE)
			continue;
		f->next[i] = f->first[parent];
		f->first[parent] = (uint32_t)i;
	}
}

/* Depth first; the stack holds pairs of a call and the place of its parent. */
static void gather(struct forest *f, uint32_t root)
{
	vec_clear(&f->order);
	vec_clear(&f->place);
	vec_push(&f->stack, root);
	vec_push(&f->stack, SPAN_NONE);
	while (f->stack.nr) {
		uint32_t above = f->stack.v[--f->stack.nr], call = f->stack.v[--f->stack.nr];
		uint32_t here = (uint32_t)f->order.nr;
		size_t from = f->stack.nr;

		vec_push(&f->order, call);
		vec_push(&f->place, above);
		for (uint32_t c = f->first[call]; c != CALL_NONE; c = f->next[c]) {
			vec_push(&f->stack, c);
			vec_push(&f->stack, here);
		}
		/* the earliest must be popped first: turn the pairs just pushed around */
		for (size_t a = from, b = f->stack.nr; a + 2 < b; a += 2, b -= 2) {
			uint32_t c = f->stack.v[a], p = f->stack.v[a + 1];

			f->stack.v[a] = f->stack.v[b - 2];
			f->stack.v[a + 1] = f->stack.v[b - 1];
			f->stack.v[b - 2] = c;
			f->stack.v[b - 1] = p;
		}
	}
}

static const struct call *call_at(const struct forest *f, uint32_t at)
{
	return &f->w->calls.v[f->order.v[at]];
}

/* Whether nothing of the request can come any more. */
static bool is_over(const struct forest *f, int64_t until)
{
	for (uint32_t i = 0; i < f->order.nr; i++) {
		const struct call *c = call_at(f, i);

		if (c->t4 > until - f->e->linger[c->to])
			return false;
	}
	return true;
}

/*
 * A call whose return was not seen is told to end with the last thing that it caused, one whose
 * call was not seen to begin with the first; where it caused nothing, it is kept within its parent.
 */
static void settle_times(struct forest *f)
{
	vec_clear(&f->times);
	for (uint32_t i = 0; i < f->order.nr; i++)
		vec_push(&f->times, (struct times){ call_at(f, i)->t1, call_at(f, i)->t4, false });
	for (uint32_t i = (uint32_t)f->order.nr; i-- > 1;) {
		const struct call *c = call_at(f, f->place.v[i]);
		struct times *t = &f->times.v[i], *up = &f->times.v[f->place.v[i]];

		if (c->no_return && (!up->has_kids || t->end > up->end))
			up->end = t->end;
		if (c->no_call && (!up->has_kids || t->start < up->start))
			up->start = t->start;
		up->has_kids = true;
		/* work after the reply may begin later than the call that it belongs to ended */
		if (up->start > up->end)
			*(c->no_call ? &up->start : &up->end) = c->no_call ? up->end : up->start;
	}
	for (uint32_t i = 1; i < f->order.nr; i++) {
		const struct call *c = call_at(f, i);
		struct times *t = &f->times.v[i], *up = &f->times.v[f->place.v[i]];

		if (t->has_kids)
			continue;
		if (c->no_return && t->end > up->end)
			t->end = up->end > t->start ? up->end : t->start;
		if (c->no_call && t->start < up->start)
			t->start = up->start < t->end ? up->start : t->end;
	}
}

static void add_alternatives(struct forest *f, uint32_t call)
{
	const struct alternative *v = f->w->alternatives.v;
	size_t nr, at = alternatives_of(f->w, call, &nr);

	if (!nr)
		return;
	buf_clear(&f->text);
	for (size_t i = 0; i < nr; i++)
		buf_fmt(&f->text, "%s[%llu,%.2f]", i ? "," : "[",
			(unsigned long long)v[at + i].position, (double)v[at + i].share);
	buf_char(&f->text, ']');
	attr_add(&f->attrs, &(struct attr){ .type = ATTR_JSON,
					    .key = STR("alternatives"),
					    .text = buf_str(&f->text) });
}

static void make_attrs(struct forest *f, uint32_t at)
{
	const struct call *c = call_at(f, at);

	buf_clear(&f->attrs);
	attr_add_int(&f->attrs, STR("message"), (int64_t)c->position);
	if (f->place.v[at] == SPAN_NONE)
		attr_add_str(&f->attrs, STR("from"), feed_node(f->e->feed, c->from));
	if (c->no_call || c->no_return)
		attr_add_str(&f->attrs, STR("not_seen"), c->no_call ? STR("call") : STR("return"));
	add_alternatives(f, f->order.v[at]);
}

/* printf would be a good part of the whole work. */
static struct str number_text(struct forest *f, uint64_t n)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + n % 10);
	while (n /= 10);
	return arena_str(&f->arena, (struct str){ digits + at, sizeof(digits) - at });
}

static struct str edge_text(struct forest *f, const struct call *c)
{
	buf_clear(&f->text);
	buf_add(&f->text, feed_node(f->e->feed, c->from));
	buf_add(&f->text, STR(" \xe2\x86\x92 "));
	buf_add(&f->text, feed_node(f->e->feed, c->to));
	return arena_str(&f->arena, buf_str(&f->text));
}

static void make_span(struct forest *f, uint32_t at, struct span *s)
{
	const struct call *c = call_at(f, at);
	const struct feed *feed = f->e->feed;

	make_attrs(f, at);
	*s = (struct span){
		.start = f->times.v[at].start,
		.end = f->times.v[at].end,
		.parent = f->place.v[at],
		.kind = SPAN_SERVER,
		.confidence = c->confidence,
		.id = number_text(f, c->position),
		.name = c->title ? feed_title(feed, c->title) : edge_text(f, c),
		.node = feed_node(feed, c->to),
		.attrs = arena_str(&f->arena, buf_str(&f->attrs)),
	};
	if (s->parent == SPAN_NONE)
		return;
	s->parent_id = number_text(f, call_at(f, s->parent)->position);
	s->follows = s->start > f->times.v[s->parent].end;
}

struct seen {
	uint64_t number;
	uint32_t span;
};

static int by_number(const void *pa, const void *pb)
{
	const struct seen *a = pa, *b = pb;

	return a->number < b->number ? -1 : a->number > b->number;
}

static void make_events(struct forest *f, struct request_body *b)
{
	struct seen *v = arena_array(&f->arena, struct seen, 2 * b->nr_spans);

	for (uint32_t i = 0; i < b->nr_spans; i++) {
		const struct call *c = call_at(f, i);

		if (c->sent != EVENT_NONE)
			v[b->nr_events++] = (struct seen){ c->sent, i };
		if (c->returned != EVENT_NONE)
			v[b->nr_events++] = (struct seen){ c->returned, i };
	}
	qsort(v, b->nr_events, sizeof(*v), by_number);
	b->events = arena_array(&f->arena, uint64_t, b->nr_events);
	b->event_span = arena_array(&f->arena, uint32_t, b->nr_events);
	for (size_t i = 0; i < b->nr_events; i++) {
		b->events[i] = v[i].number;
		b->event_span[i] = v[i].span;
	}
}

static uint64_t sequence_of(const struct forest *f)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (uint32_t i = 0; i < f->order.nr; i++) {
		const struct call *c = &f->w->calls.v[f->order.v[i]];

		h = (h ^ c->to) * 0x100000001b3ULL;
		h = (h ^ (i ? i - f->place.v[i] : 0)) * 0x100000001b3ULL;
	}
	return h;
}

static int store_one(struct forest *f, struct error *err)
{
	const struct call *root = call_at(f, 0);
	struct request_body body = { .nr_spans = f->order.nr };
	struct request r = { .key_kind = KEY_NONE,
			     .method = f->e->method,
			     .sequence = sequence_of(f),
			     .incomplete = root->no_call || root->no_return,
			     .confidence = 1 };

	if (r.incomplete && f->order.nr == 1)
		return 0; /* counted; nothing is known of how long it took, nor of what it did */
	settle_times(f);
	r.start = f->times.v[0].start;
	r.end = f->times.v[0].end;
	arena_reset(&f->arena);
	body.spans = arena_array(&f->arena, struct span, f->order.nr);
	for (uint32_t i = 0; i < f->order.nr; i++) {
		make_span(f, i, &body.spans[i]);
		/* every call must be in its place for the whole to be right */
		r.confidence *= body.spans[i].confidence;
		if (body.spans[i].end > r.end)
			r.end = body.spans[i].end;
	}
	r.type = body.spans[0].name;
	if (root->title)
		r.type = arena_fmt(&f->arena, STR_FMT ": " STR_FMT, STR_ARG(body.spans[0].node),
				   STR_ARG(r.type));
	make_events(f, &body);
	return store_add_request(f->e->store, &r, &body, err);
}

/* Equal times can let two calls seem to cause each other: the circle is cut at its first call. */
static void cut_circles(struct forest *f)
{
	struct call *calls = f->w->calls.v;
	uint32_t *mark = mem_zalloc(mem_bytes(f->w->calls.nr + 1, sizeof(uint32_t)));

	for (uint32_t i = 0; i < f->w->calls.nr; i++) {
		uint32_t at = i;

		while (at != CALL_NONE && !mark[at]) {
			mark[at] = i + 1;
			if (calls[at].parent != CALL_NONE && mark[calls[at].parent] == i + 1) {
				calls[at].parent = CALL_NONE;
				store_losses(f->e->store)->count[LOSS_PARENTS_CIRCLE]++;
			}
			at = calls[at].parent;
		}
	}
	free(mark);
}

int emit_requests(const struct emit *e, struct window *w, int64_t until, uint32_t *gone,
		  struct error *err)
{
	struct forest f = { .e = e, .w = w };
	int r = 0;

	cut_circles(&f);
	link_children(&f);
	for (uint32_t i = 0; i < w->calls.nr && r >= 0; i++) {
		if (w->calls.v[i].parent != CALL_NONE || w->calls.v[i].t4 > until)
			continue;
		gather(&f, i);
		if (!is_over(&f, until))
			continue;
		vec_each (&f.order, call)
			gone[*call] = CALL_NONE;
		r = store_one(&f, err);
	}
	free(f.first);
	free(f.next);
	vec_done(&f.order);
	vec_done(&f.place);
	vec_done(&f.stack);
	arena_done(&f.arena);
	vec_done(&f.times);
	buf_done(&f.attrs);
	buf_done(&f.text);
	return r;
}
