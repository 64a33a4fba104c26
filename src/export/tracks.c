#include "export/tracks.h"

#include <assert.h>
#include <stdlib.h>

#include "export/attrs.h"

#define TRIES \
	64 /* lanes looked at before a new one is opened; bounds the time of wide requests \
	    */

void tracks_done(struct tracks *t)
{
	names_done(&t->keys);
	vec_done(&t->of_key);
	vec_done(&t->processes);
	vec_done(&t->threads);
	vec_done(&t->lanes);
	vec_done(&t->items);
	vec_done(&t->stamp);
	vec_done(&t->first_slot);
}

/* The number behind a key; UINT32_MAX the first time, when the caller sets it. */
static uint32_t *number_of(struct tracks *t, struct buf *key)
{
	sym_t sym = names_add(&t->keys, buf_str(key));

	while (t->of_key.nr <= sym)
		vec_push(&t->of_key, UINT32_MAX);
	return &t->of_key.v[sym];
}

static uint32_t process_of(struct tracks *t, const struct span *s, struct buf *key)
{
	uint32_t *number;
	struct str k;

	buf_clear(key);
	buf_char(key, 'p');
	buf_bytes(key, attrs_service(s));
	buf_bytes(key, s->host);
	number = number_of(t, key);
	if (*number == UINT32_MAX) {
		struct track_process p = { 0 };

		k = str_skip(names_str(&t->keys, names_find(&t->keys, buf_str(key))), 1);
		str_take_bytes(&k, &p.node);
		str_take_bytes(&k, &p.host);
		*number = (uint32_t)t->processes.nr;
		vec_push(&t->processes, p);
	}
	return *number;
}

static uint32_t thread_of(struct tracks *t, const struct span *s, struct buf *key)
{
	uint32_t process = process_of(t, s, key), *number;
	struct str k;

	buf_clear(key);
	buf_fmt(key, "t%u ", process);
	buf_add(key, s->thread);
	number = number_of(t, key);
	if (*number == UINT32_MAX) {
		k = names_str(&t->keys, names_find(&t->keys, buf_str(key)));
		*number = (uint32_t)t->threads.nr;
		vec_push(&t->threads,
			 (struct track_thread){ process, str_skip(k, k.n - s->thread.n) });
		vec_push(&t->stamp, 0);
		vec_push(&t->first_slot, 0);
	}
	return *number;
}

/* A lane within one request: a stack of the spans that are open at the time reached. */
struct slot {
	uint32_t thread, top, next;
	int64_t start, end;
};

struct stacking {
	struct tracks *t;
	const struct span *spans;
	uint32_t *under; /* per span: what it stands on in its slot */
	VEC(struct slot) slots;
	struct placed placed;
};

static int by_start(const void *a, const void *b, void *ctx)
{
	const struct span *spans = ctx;
	uint32_t l = *(const uint32_t *)a, r = *(const uint32_t *)b;

	if (spans[l].start != spans[r].start)
		return spans[l].start < spans[r].start ? -1 : 1;
	if (spans[l].end != spans[r].end)
		return spans[l].end > spans[r].end ? -1 : 1;
	return l < r ? -1 : l > r; /* a parent stands before its children */
}

/* Whether the span nests in what is open in this slot. */
static bool slot_takes(struct stacking *st, uint32_t slot, const struct span *s)
{
	struct slot *sl = &st->slots.v[slot];

	while (sl->top != SPAN_NONE && st->spans[sl->top].end <= s->start)
		sl->top = st->under[sl->top];
	return sl->top == SPAN_NONE || st->spans[sl->top].end >= s->end;
}

static uint32_t find_slot(struct stacking *st, uint32_t position, uint32_t thread)
{
	const struct span *s = &st->spans[position];
	uint32_t first = UINT32_MAX, slot;
	unsigned tries = 0;

	/* the lane of its parent is the natural one */
	if (s->parent < position) {
		slot = st->placed.slot[s->parent];
		if (slot != UINT32_MAX && st->slots.v[slot].thread == thread &&
		    slot_takes(st, slot, s))
			return slot;
	}
	if (st->t->stamp.v[thread] == st->t->nr_measured)
		first = st->t->first_slot.v[thread];
	for (slot = first; slot != UINT32_MAX && tries < TRIES; tries++) {
		if (slot_takes(st, slot, s))
			return slot;
		slot = st->slots.v[slot].next;
	}
	slot = (uint32_t)st->slots.nr;
	vec_push(&st->slots, (struct slot){ thread, SPAN_NONE, first, s->start, s->end });
	st->t->stamp.v[thread] = st->t->nr_measured;
	st->t->first_slot.v[thread] = slot;
	return slot;
}

static void stack_up(struct stacking *st, struct tracks *t, const struct fed *x)
{
	size_t nr = x->body->nr_spans;
	struct buf key = { 0 };

	*st = (struct stacking){ .t = t, .spans = x->body->spans };
	st->placed.order = arena_array(x->arena, uint32_t, nr);
	st->placed.slot = arena_array(x->arena, uint32_t, nr);
	st->under = arena_array(x->arena, uint32_t, nr);
	t->nr_measured++;
	for (size_t i = 0; i < nr; i++) {
		st->placed.order[i] = (uint32_t)i;
		st->placed.slot[i] = UINT32_MAX;
	}
	qsort_r(st->placed.order, nr, sizeof(uint32_t), by_start, x->body->spans);
	for (size_t i = 0; i < nr; i++) {
		uint32_t position = st->placed.order[i];
		const struct span *s = &st->spans[position];
		uint32_t slot = find_slot(st, position, thread_of(t, s, &key));
		struct slot *sl = &st->slots.v[slot];

		st->placed.slot[position] = slot;
		st->under[position] = sl->top;
		sl->top = position;
		if (s->end > sl->end)
			sl->end = s->end;
	}
	st->placed.nr_slots = st->slots.nr;
	buf_done(&key);
}

void tracks_measure(void *tracks, const struct fed *x, struct buf *out)
{
	struct tracks *t = tracks;
	struct stacking st;

	(void)out;
	stack_up(&st, t, x);
	vec_each (&st.slots, s)
		vec_push(&t->items, (struct track_item){ s->start, s->end, s->thread, 0 });
	vec_done(&st.slots);
}

static int by_thread_and_start(const void *a, const void *b, void *ctx)
{
	const struct track_item *items = ctx;
	uint32_t li = *(const uint32_t *)a, ri = *(const uint32_t *)b;
	const struct track_item *l = &items[li], *r = &items[ri];

	if (l->thread != r->thread)
		return l->thread < r->thread ? -1 : 1;
	if (l->start != r->start)
		return l->start < r->start ? -1 : 1;
	return li < ri ? -1 : li > ri;
}

/* The lanes of the thread at hand, as a heap: the one that is free first on top. */
struct free_lane {
	int64_t until;
	uint32_t lane;
};

static void sift_down(struct free_lane *v, size_t nr)
{
	for (size_t i = 0, child; (child = 2 * i + 1) < nr; i = child) {
		struct free_lane swap = v[i];

		if (child + 1 < nr && v[child + 1].until < v[child].until)
			child++;
		if (swap.until <= v[child].until)
			return;
		v[i] = v[child];
		v[child] = swap;
	}
}

static void sift_up(struct free_lane *v, size_t i)
{
	for (; i && v[(i - 1) / 2].until > v[i].until; i = (i - 1) / 2) {
		struct free_lane swap = v[i];

		v[i] = v[(i - 1) / 2];
		v[(i - 1) / 2] = swap;
	}
}

void tracks_settle(struct tracks *t)
{
	uint32_t *order = mem_alloc(mem_bytes(t->items.nr + 1, sizeof(*order)));
	VEC(struct free_lane) busy = { 0 };
	uint32_t thread = UINT32_MAX;

	for (size_t i = 0; i < t->items.nr; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, t->items.nr, sizeof(*order), by_thread_and_start, t->items.v);
	for (size_t i = 0; i < t->items.nr; i++) {
		struct track_item *it = &t->items.v[order[i]];

		if (it->thread != thread)
			vec_clear(&busy);
		thread = it->thread;
		/* strictly before: what touches could be sorted either way by a viewer */
		if (busy.nr && busy.v[0].until < it->start) {
			it->lane = busy.v[0].lane;
			busy.v[0].until = it->end;
			sift_down(busy.v, busy.nr);
			continue;
		}
		it->lane = (uint32_t)t->lanes.nr;
		vec_push(&t->lanes, (struct track_lane){ thread, (uint32_t)busy.nr });
		vec_push(&busy, (struct free_lane){ it->end, it->lane });
		sift_up(busy.v, busy.nr - 1);
	}
	vec_done(&busy);
	free(order);
}

struct placed tracks_place(struct tracks *t, const struct fed *x)
{
	struct stacking st;

	stack_up(&st, t, x);
	assert(t->nr_placed + st.slots.nr <= t->items.nr);
	st.placed.lane = arena_array(x->arena, uint32_t, x->body->nr_spans);
	for (size_t i = 0; i < x->body->nr_spans; i++)
		st.placed.lane[i] = t->items.v[t->nr_placed + st.placed.slot[i]].lane;
	t->nr_placed += st.slots.nr;
	vec_done(&st.slots);
	return st.placed;
}
