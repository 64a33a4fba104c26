/*
 * Replies sent before the work is done, which the paper leaves out. A call that a node makes while
 * it serves nobody would be a root, although the node is no source of requests. When such calls
 * follow the ends of earlier ones by delays that recur (rates.h), they are given to these; work
 * that goes on in several steps is followed from the return of each to the next.
 *
 * Calls that have an open call around them are left to the methods, unless calls to that callee
 * heed open calls so little that they come as often without one: then all of them are late work.
 *
 * Cost: two walks over the calls of each node; where there is late work, CAUSES x the iterations of
 * rates.c for each call of a sample. Memory: 16 bytes a call of one node.
 */
#include "infer/paths/late.h"

#include <stdlib.h>

#include "base/time.h"
#include "infer/paths/calls.h"
#include "infer/paths/rates.h"

enum {
	LEAST = 20,    /* calls from which anything is learned */
	SAMPLE = 4096, /* calls that are learned from */
	CAUSES = 16,   /* that a call may have: the latest */
	SENDERS = RATE_KINDS - RATE_CALLEES,
};

struct late {
	struct window *w;
	const uint32_t *in, *out;
	uint32_t nr_in, nr_out;
	uint32_t callee[RATE_CALLEES], nr_callees; /* nodes; the last stands for all others */
	uint32_t nr_calls[RATE_CALLEES], nr_alone[RATE_CALLEES];
	double seconds, idle; /* since the first call, and those in which nothing was served */
	uint8_t *is_alone;    /* by call of out: nothing was served when it was made */
	VEC(struct cause) causes;
	VEC(struct effect) effects;
};

static uint32_t callee_of(struct late *l, uint32_t node, bool is_new)
{
	uint32_t i = 0;

	while (i < l->nr_callees && l->callee[i] != node)
		i++;
	if (i < l->nr_callees || !is_new)
		return i < RATE_CALLEES ? i : RATE_CALLEES - 1;
	if (i == RATE_CALLEES)
		return i - 1;
	l->callee[l->nr_callees++] = node;
	return i;
}

/* Finds the calls that are made while nothing is served; true when there are enough. */
static bool find_alone(struct late *l)
{
	const struct call *calls = l->w->calls.v;
	int64_t until = 0, idle = 0;
	uint32_t next = 0, nr = 0;

	for (uint32_t i = 0; i < l->nr_out; i++) {
		const struct call *c = &calls[l->out[i]];

		for (; next < l->nr_in && calls[l->in[next]].t1 <= c->t1; next++) {
			const struct call *s = &calls[l->in[next]];

			if (next && s->t1 > until)
				idle += s->t1 - until;
			if (s->t4 != CALL_OPEN && (!next || s->t4 > until))
				until = s->t4;
		}
		l->is_alone[i] = next && c->t1 > until && c->t4 != CALL_OPEN && !c->is_decided;
		nr += l->is_alone[i];
		if (l->is_alone[i])
			l->nr_alone[callee_of(l, c->to, true)]++;
	}
	if (nr < LEAST)
		return false;
	for (uint32_t i = 0; i < l->nr_out; i++)
		l->nr_calls[callee_of(l, calls[l->out[i]].to, false)]++;
	l->seconds = 1e-9 * (double)(calls[l->out[l->nr_out - 1]].t1 - calls[l->in[0]].t1);
	l->idle = 1e-9 * (double)idle;
	return l->seconds > 0 && l->idle > 0;
}

static int by_time(const void *pa, const void *pb)
{
	const struct cause *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return a->call < b->call ? -1 : a->call > b->call;
}

static uint32_t sender_kind(const struct late *l, uint32_t from)
{
	return l->w->is_source[from] ? 0 : 1 + from % (SENDERS - 1);
}

/* Does the callee hear of the node as often when it serves nobody as the idle time lets expect. */
static bool heeds_nothing(const struct late *l, uint32_t callee)
{
	double share = (double)l->nr_alone[callee] / (l->nr_calls[callee] + 1.0);

	return share >= 0.5 * l->idle / l->seconds;
}

/* The ends of what was served, and the returns to calls that may be late work themselves. */
static void list_causes(struct late *l)
{
	for (uint32_t i = 0; i < l->nr_in; i++) {
		const struct call *s = &l->w->calls.v[l->in[i]];

		if (s->t4 != CALL_OPEN)
			vec_push(&l->causes,
				 (struct cause){ s->t4, sender_kind(l, s->from), l->in[i] });
	}
	for (uint32_t i = 0; i < l->nr_out; i++) {
		const struct call *c = &l->w->calls.v[l->out[i]];

		if (l->is_alone[i])
			vec_push(&l->causes,
				 (struct cause){ c->t4, SENDERS + callee_of(l, c->to, false),
						 l->out[i] });
	}
	qsort(l->causes.v, l->causes.nr, sizeof(*l->causes.v), by_time);
}

/* A node that calls itself ends nothing before its own beginning. */
static void list_effects(struct late *l)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < l->nr_out; i++) {
		const struct call *c = &l->w->calls.v[l->out[i]];
		struct effect e = { c->t1, l->out[i], callee_of(l, c->to, false), 0, 0 };

		while (next < l->causes.nr && l->causes.v[next].ns <= c->t1)
			next++;
		e.last = next;
		e.first = next > CAUSES ? next - CAUSES : 0;
		while (e.last > e.first && l->causes.v[e.last - 1].ns == c->t1 &&
		       l->causes.v[e.last - 1].call == e.call)
			e.last--;
		vec_push(&l->effects, e);
	}
}

/* From the middle of the window, as far as calls stand alone. */
static void learn(struct late *l, struct rates *r)
{
	VEC(struct effect) sample = { 0 };
	uint32_t nr = 0, skip;

	for (uint32_t i = 0; i < l->nr_out; i++)
		nr += l->is_alone[i];
	skip = nr > SAMPLE ? (nr - SAMPLE) / 2 : 0;
	for (uint32_t i = 0; i < l->nr_out && sample.nr < SAMPLE; i++) {
		if (!l->is_alone[i])
			continue;
		if (skip)
			skip--;
		else
			vec_push(&sample, l->effects.v[i]);
	}
	rates_learn(r, l->causes.v, sample.v, (uint32_t)sample.nr,
		    l->idle * (double)sample.nr / nr);
	vec_done(&sample);
}

static void assign(struct late *l, const struct rates *r, int64_t *linger)
{
	uint16_t *used = mem_zalloc(mem_bytes(l->causes.nr + 1, sizeof(*used)));

	for (uint32_t i = 0; i < l->nr_out; i++) {
		const struct effect *e = &l->effects.v[i];
		struct call *c = &l->w->calls.v[e->call], *up;
		uint32_t best;
		float sure;

		if (!r->is_regular[e->callee] || c->is_decided || c->t4 == CALL_OPEN ||
		    (!l->is_alone[i] && !heeds_nothing(l, e->callee)))
			continue;
		best = rates_cause(r, l->causes.v, e, used, &sure);
		if (best == UINT32_MAX)
			continue;
		up = &l->w->calls.v[l->causes.v[best].call];
		c->parent = l->causes.v[best].call;
		c->confidence = sure;
		/* a return to late work: its parent goes on */
		if (l->causes.v[best].kind >= SENDERS) {
			c->parent = up->parent;
			c->confidence *= up->confidence;
		}
		if (c->parent == CALL_NONE)
			continue;
		c->is_decided = true;
		up = &l->w->calls.v[c->parent];
		if (c->t1 - up->t4 > linger[up->to])
			linger[up->to] = c->t1 - up->t4;
	}
	free(used);
}

static void tie_node(struct late *l, int64_t *linger)
{
	struct rates r;

	l->is_alone = mem_zalloc(l->nr_out);
	if (find_alone(l)) {
		rates_init(&r);
		list_causes(l);
		list_effects(l);
		learn(l, &r);
		assign(l, &r, linger);
		rates_done(&r);
		vec_done(&l->causes);
		vec_done(&l->effects);
	}
	free(l->is_alone);
}

void late_tie(struct window *w, int64_t *linger)
{
	struct sides s;

	sides_init(&s, w);
	for (uint32_t n = 0; n < w->nr_nodes; n++) {
		struct late l = { .w = w,
				  .in = s.in + s.in_first[n],
				  .nr_in = s.in_first[n + 1] - s.in_first[n],
				  .out = s.out + s.out_first[n],
				  .nr_out = s.out_first[n + 1] - s.out_first[n] };

		if (l.nr_in && l.nr_out)
			tie_node(&l, linger);
	}
	sides_done(&s);
}
