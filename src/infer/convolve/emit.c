/*
 * A message says when a node began to do something, and the messages that it caused say when that
 * was over. So a message is a span on its receiver that lasts until the last message caused by it,
 * near or far, was sent; what is left to the span itself is then the delay that the paper ascribes
 * to the node. The last message of a path has no length.
 */
#include "infer/convolve/emit.h"

#include <stdlib.h>

#include "base/buf.h"
#include "infer/convolve/traffic.h"
#include "model/attr.h"
#include "store/store.h"

#define ARROW " \xe2\x86\x92 "

struct chains {
	struct store *store;
	const struct traffic *t;
	uint32_t *first, *next; /* of the messages that each caused, by time; SENT_NONE ends */
	VEC(uint32_t) members;  /* of the request at hand, causes before effects */
	VEC(uint32_t) place;    /* of the cause of each among them */
	struct arena arena;
};

/* Effects stand in the order of their routes; a request's are few, so each list is sorted. */
static void link_effects(struct chains *c)
{
	const struct sent *v = c->t->v.v;

	for (size_t i = 0; i < c->t->v.nr; i++)
		c->first[i] = c->next[i] = SENT_NONE;
	for (uint32_t i = 0; i < c->t->v.nr; i++) {
		uint32_t *at;

		if (!v[i].placed || v[i].cause == SENT_NONE)
			continue;
		at = &c->first[v[i].cause];
		while (*at != SENT_NONE && v[*at].ns <= v[i].ns)
			at = &c->next[*at];
		c->next[i] = *at;
		*at = i;
	}
}

static void gather(struct chains *c, uint32_t root)
{
	vec_clear(&c->members);
	vec_clear(&c->place);
	vec_push(&c->members, root);
	vec_push(&c->place, SPAN_NONE);
	for (uint32_t i = 0; i < c->members.nr; i++)
		for (uint32_t e = c->first[c->members.v[i]]; e != SENT_NONE; e = c->next[e]) {
			vec_push(&c->members, e);
			vec_push(&c->place, i);
		}
}

static struct str packed_attrs(struct chains *c, uint32_t i)
{
	const struct sent *m = &c->t->v.v[c->members.v[i]];
	struct buf packed = { 0 };
	struct str attrs;

	attr_add_int(&packed, STR("message"), (int64_t)m->position);
	if (!i)
		attr_add_str(&packed, STR("from"),
			     names_str(&c->t->nodes, c->t->routes.v[m->route].from));
	attrs = arena_str(&c->arena, buf_str(&packed));
	buf_done(&packed);
	return attrs;
}

static void make_span(struct chains *c, uint32_t i, struct span *s)
{
	const struct sent *m = &c->t->v.v[c->members.v[i]];
	const struct route *r = &c->t->routes.v[m->route];
	struct str from = names_str(&c->t->nodes, r->from), to = names_str(&c->t->nodes, r->to);

	*s = (struct span){
		.start = m->ns,
		.end = m->ns,
		.parent = c->place.v[i],
		.kind = SPAN_CONSUMER,
		.confidence = m->confidence,
		.id = arena_fmt(&c->arena, "%llu", (unsigned long long)m->position),
		.name = arena_fmt(&c->arena, STR_FMT ARROW STR_FMT, STR_ARG(from), STR_ARG(to)),
		.node = to,
		.attrs = packed_attrs(c, i),
	};
}

struct seen {
	int64_t ns;
	uint64_t number;
	uint32_t span;
};

static int by_time(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void make_events(struct chains *c, struct request_body *b)
{
	size_t nr = b->nr_spans;
	struct seen *seen = arena_array(&c->arena, struct seen, nr);

	for (uint32_t i = 0; i < nr; i++)
		seen[i] = (struct seen){ b->spans[i].start, c->t->v.v[c->members.v[i]].number, i };
	qsort(seen, nr, sizeof(*seen), by_time);
	b->nr_events = nr;
	b->events = arena_array(&c->arena, uint64_t, nr);
	b->event_span = arena_array(&c->arena, uint32_t, nr);
	for (size_t i = 0; i < nr; i++) {
		b->events[i] = seen[i].number;
		b->event_span[i] = seen[i].span;
	}
}

static int emit_one(struct chains *c, uint32_t root, struct error *err)
{
	struct request_body b = { 0 };
	struct request r = { .method = STR("convolution"), .confidence = 1 };

	gather(c, root);
	b.nr_spans = c->members.nr;
	b.spans = arena_array(&c->arena, struct span, b.nr_spans);
	for (uint32_t i = 0; i < b.nr_spans; i++) {
		make_span(c, i, &b.spans[i]);
		r.confidence *= b.spans[i].confidence;
		r.incomplete |= c->t->v.v[c->members.v[i]].is_short;
	}
	for (size_t i = b.nr_spans - 1; i > 0; i--) {
		struct span *up = &b.spans[b.spans[i].parent];

		if (b.spans[i].end > up->end)
			up->end = b.spans[i].end;
	}
	make_events(c, &b);
	r.type = b.spans[0].name;
	r.key = b.spans[0].id;
	r.start = b.spans[0].start;
	r.end = b.spans[0].end;
	return store_add_request(c->store, &r, &b, err);
}

int emit_chains(struct store *s, const struct traffic *t, struct error *err)
{
	struct chains c = { .store = s, .t = t };
	int r = 0;

	c.first = mem_alloc(mem_bytes(t->v.nr + 1, sizeof(*c.first)));
	c.next = mem_alloc(mem_bytes(t->v.nr + 1, sizeof(*c.next)));
	link_effects(&c);
	for (uint32_t i = 0; i < t->v.nr && r >= 0; i++) {
		if (!t->v.v[i].placed)
			store_losses(s)->count[LOSS_MESSAGES_UNPLACED]++;
		if (!t->v.v[i].placed || t->v.v[i].cause != SENT_NONE)
			continue;
		r = emit_one(&c, i, err);
		arena_reset(&c.arena);
	}
	free(c.first);
	free(c.next);
	vec_done(&c.members);
	vec_done(&c.place);
	arena_done(&c.arena);
	return r < 0 ? r : 0;
}
