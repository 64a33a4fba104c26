/*
 * FindCallPaths of the paper (Figure 4): a request begins at each call without a parent and holds
 * all calls below it. Patterns are not aggregated here; questions do that from the store.
 */
#include "infer/paths/emit.h"

#include <stdlib.h>

#include "base/arena.h"
#include "infer/paths/calls.h"
#include "infer/paths/feed.h"
#include "model/attr.h"
#include "model/loss.h"
#include "model/request.h"
#include "store/store.h"

/* Children of each call as lists by next, in the order of t1. */
struct forest {
	const struct emit *e;
	struct window *w;
	uint32_t *first, *next;
	VEC(uint32_t) order; /* the calls of one request, parents first */
	VEC(uint32_t) place; /* where the parent of each stands in order */
	VEC(uint32_t) stack;
	struct arena arena;
	struct buf attrs;
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

static void make_span(struct forest *f, uint32_t at, struct span *s)
{
	const struct call *c = &f->w->calls.v[f->order.v[at]];
	const struct feed *feed = f->e->feed;

	buf_clear(&f->attrs);
	attr_add_int(&f->attrs, STR("message"), (int64_t)c->position);
	if (f->place.v[at] == SPAN_NONE)
		attr_add_str(&f->attrs, STR("from"), feed_node(feed, c->from));
	*s = (struct span){
		.start = c->t1,
		.end = c->t4,
		.parent = f->place.v[at],
		.kind = SPAN_SERVER,
		.confidence = c->confidence,
		.id = arena_fmt(&f->arena, "%llu", (unsigned long long)c->position),
		.name = arena_fmt(&f->arena, STR_FMT " \xe2\x86\x92 " STR_FMT,
				  STR_ARG(feed_node(feed, c->from)),
				  STR_ARG(feed_node(feed, c->to))),
		.node = feed_node(feed, c->to),
		.attrs = arena_str(&f->arena, buf_str(&f->attrs)),
	};
	if (s->parent != SPAN_NONE)
		s->parent_id = arena_fmt(
			&f->arena, "%llu",
			(unsigned long long)f->w->calls.v[f->order.v[s->parent]].position);
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

	b->nr_events = 2 * b->nr_spans;
	b->events = arena_array(&f->arena, uint64_t, b->nr_events);
	b->event_span = arena_array(&f->arena, uint32_t, b->nr_events);
	for (uint32_t i = 0; i < b->nr_spans; i++) {
		const struct call *c = &f->w->calls.v[f->order.v[i]];

		v[2 * i] = (struct seen){ c->sent, i };
		v[2 * i + 1] = (struct seen){ c->returned, i };
	}
	qsort(v, b->nr_events, sizeof(*v), by_number);
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
	const struct call *root = &f->w->calls.v[f->order.v[0]];
	struct request_body body = { .nr_spans = f->order.nr };
	struct request r = { .key_kind = KEY_NONE,
			     .method = f->e->method,
			     .start = root->t1,
			     .end = root->t4,
			     .sequence = sequence_of(f),
			     .confidence = 1 };

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
	buf_done(&f.attrs);
	return r;
}
