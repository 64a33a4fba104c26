/*
 * A capture begins and ends in the middle of calls, and messages are lost. What the other half of a
 * call would have been is guessed from the calls of its edge that were seen whole; the request is
 * told as it was seen (emit.c), the guess only decides which calls can be within which.
 */
#include "infer/paths/half.h"

#include <stdlib.h>

#include "infer/paths/calls.h"
#include "infer/paths/lengths.h"
#include "infer/paths/pairs.h"
#include "model/loss.h"

enum { LEAST = 20 }; /* calls that tell how long one can take at most */
#define USUAL 0.75
#define PATIENCE 4 /* times the longest that was seen */

static bool is_half(const struct call *c)
{
	return c->t4 == CALL_OPEN && !c->is_sent;
}

static int64_t plus(int64_t ns, int64_t more)
{
	int64_t sum;

	return __builtin_add_overflow(ns, more, &sum) ? CALL_OPEN - 1 : sum;
}

static bool is_lost(const struct half *h, const struct lengths *l, size_t i)
{
	const struct call *c = &h->w->calls.v[i];
	size_t nr;
	int64_t longest = lengths_of(l, c->from, c->to, 1, &nr);

	return h->is_last || i < h->nr_carried ||
	       (nr >= LEAST && (double)h->now - (double)c->t1 > PATIENCE * (double)longest);
}

static void close_calls(struct half *h, const struct lengths *l)
{
	for (size_t i = 0; i < h->w->calls.nr; i++) {
		struct call *c = &h->w->calls.v[i];
		int64_t usual;

		if (!is_half(c))
			continue;
		if (!is_lost(h, l, i)) {
			c->t4 = h->now;
			vec_push(&h->running, (uint32_t)i);
			continue;
		}
		usual = lengths_of(l, c->from, c->to, USUAL, NULL);
		c->t4 = plus(c->t1, usual < 0 ? 0 : usual);
		c->t4 = c->t4 > h->now ? h->now : c->t4;
		c->no_return = true;
		h->losses->count[LOSS_CALLS_OPEN]++;
	}
}

static int by_start(const void *pa, const void *pb)
{
	const struct call *a = pa, *b = pb;

	if (a->t1 != b->t1)
		return a->t1 < b->t1 ? -1 : 1;
	return a->position < b->position ? -1 : a->position > b->position;
}

static void make_calls(struct half *h, const struct lengths *l)
{
	struct returns *orphans = pairs_orphans(h->pairs);
	VEC(struct call) made = { 0 };
	uint32_t *to;

	if (!orphans->nr)
		return;
	vec_each (orphans, r) {
		int64_t usual = lengths_of(l, r->to, r->from, USUAL, NULL);
		int64_t most;

		if (__builtin_sub_overflow(r->ns, h->first, &most))
			most = INT64_MAX;
		usual = usual < 0 ? 0 : usual > most ? most : usual;
		vec_push(&made, (struct call){ .t1 = r->ns - usual,
					       .t4 = r->ns,
					       .sent = EVENT_NONE,
					       .returned = r->number,
					       .position = r->position,
					       .from = r->to,
					       .to = r->from,
					       .parent = CALL_NONE,
					       .no_call = true });
	}
	vec_clear(orphans);
	qsort(made.v, made.nr, sizeof(*made.v), by_start);
	to = mem_alloc(mem_bytes(h->w->calls.nr + 1, sizeof(*to)));
	window_merge(h->w, made.v, made.nr, to);
	pairs_move(h->pairs, to);
	vec_each (&h->running, i)
		*i = to[*i];
	free(to);
	vec_done(&made);
}

void half_fill(struct half *h)
{
	struct lengths l = { 0 };

	vec_each (&h->w->calls, c)
		if (is_half(c))
			lengths_want(&l, c->from, c->to);
	vec_each (pairs_orphans(h->pairs), r)
		lengths_want(&l, r->to, r->from);
	lengths_read(&l, h->w);
	close_calls(h, &l);
	make_calls(h, &l);
	lengths_done(&l);
}

void half_restore(struct half *h)
{
	vec_each (&h->running, i)
		h->w->calls.v[*i].t4 = CALL_OPEN;
	vec_done(&h->running);
}
