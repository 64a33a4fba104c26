/*
 * Asymmetric forwarding, which the paper leaves out. A return C -> A that answers no call A -> C
 * may answer a call A -> B that B passed on: then B sent something to C that was never answered, be
 * it directly or by others in between. From each such return we go back, from receiver to sender,
 * over unanswered messages until one that A sent.
 *
 * All of the chain ends with the return: then each part is within the one before, what remains to a
 * node itself is the time until it passed the work on, and the methods that look for parents need
 * not know. Ids prove the two ends of a chain; without ids it must be usual for that edge to be
 * unanswered, and those who wait longest are answered first.
 *
 * Cost: nothing when there are no orphaned returns, else a sort of the unanswered calls and a
 * bounded search for each orphan.
 */
#include "infer/paths/forward.h"

#include <stdlib.h>

#include "infer/paths/calls.h"
#include "infer/paths/habits.h"
#include "infer/paths/pairs.h"
#include "model/loss.h"

enum {
	DEPTH_MAX = 8,
	LOOK_BACK = 256,  /* messages to one node */
	STEPS_MAX = 4096, /* of the search for one return */
	EDGES_MAX = 512,  /* that are asked whether they pass on */
};
#define PASSES_ON 0.5   /* of the messages of an edge without ids are never answered */
#define IS_PASSED 0.25f /* of the calls likewise */

/* How many calls of an edge there are, and how many of them nobody answered. */
struct habitude {
	uint32_t from, to;
	uint32_t nr, nr_open;
};

struct forward {
	struct window *w;
	uint64_t *keys;     /* by call: what proves its id */
	VEC(uint32_t) open; /* unanswered, by receiver, then time */
	VEC(struct habitude) edges;
	struct habits waits; /* until somebody else answers */
	unsigned steps;
	uint32_t chain[DEPTH_MAX]; /* the last message first */
	bool is_sure[DEPTH_MAX];   /* no other could stand there */
};

static int by_receiver(const void *pa, const void *pb, void *ctx)
{
	const struct call *calls = ctx;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	if (calls[a].to != calls[b].to)
		return calls[a].to < calls[b].to ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void list_open(struct forward *f)
{
	for (uint32_t i = 0; i < f->w->calls.nr; i++)
		if (f->w->calls.v[i].t4 == CALL_OPEN)
			vec_push(&f->open, i);
	if (f->open.nr)
		qsort_r(f->open.v, f->open.nr, sizeof(*f->open.v), by_receiver, f->w->calls.v);
}

/* Behind the last message to the node that was sent by the time. */
static size_t end_of(const struct forward *f, uint32_t node, int64_t ns)
{
	size_t lo = 0, hi = f->open.nr;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		const struct call *c = &f->w->calls.v[f->open.v[mid]];

		if (c->to < node || (c->to == node && c->t1 <= ns))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Counted when first asked for: few edges ever are. */
static double share_open(struct forward *f, uint32_t from, uint32_t to)
{
	struct habitude made = { from, to, 0, 0 };

	vec_each (&f->edges, e)
		if (e->from == from && e->to == to)
			return e->nr ? (double)e->nr_open / e->nr : 0;
	if (f->edges.nr >= EDGES_MAX)
		return 0;
	vec_each (&f->w->calls, c) {
		if (c->from != from || c->to != to || c->no_call)
			continue;
		made.nr++;
		made.nr_open += c->t4 == CALL_OPEN;
	}
	vec_push(&f->edges, made);
	return made.nr ? (double)made.nr_open / made.nr : 0;
}

static bool has_id(const struct forward *f, uint32_t call, uint64_t id)
{
	const struct call *c = &f->w->calls.v[call];

	return f->keys[call] && f->keys[call] == pairs_key(c->from, c->to, id);
}

/* Can the call be the one that began the chain which the return ends. */
static bool is_first(struct forward *f, uint32_t call, const struct message *r)
{
	const struct call *c = &f->w->calls.v[call];

	if (c->from != r->to || c->is_sent || !has_id(f, call, r->id))
		return false;
	if (r->id)
		return true;
	return share_open(f, c->from, c->to) >= (double)IS_PASSED &&
	       !habit_is_long(habits_of(&f->waits, c->from, r->from), r->ns - c->t1);
}

static bool may_pass_on(struct forward *f, uint32_t call, const struct message *r)
{
	const struct call *c = &f->w->calls.v[call];

	if (c->from == r->to || c->from == c->to)
		return false;
	if (r->id && has_id(f, call, r->id))
		return true;
	if (!c->is_sent && share_open(f, c->from, c->to) < PASSES_ON)
		return false;
	return !habit_is_long(habits_of(&f->waits, c->from, c->to), r->ns - c->t1);
}

/* Fills the chain from depth on with what ended at the node before the time; 0 when nothing does.
 * The depth is bounded, and so is the recursion. */
static unsigned find(struct forward *f, const struct message *r, uint32_t node, int64_t before,
		     unsigned depth)
{
	size_t end = end_of(f, node, before);
	unsigned found = 0;

	for (size_t i = end > LOOK_BACK ? end - LOOK_BACK : 0; i < end; i++) {
		uint32_t call = f->open.v[i];
		const struct call *c = &f->w->calls.v[call];
		unsigned nr = 0;

		if (f->steps++ >= STEPS_MAX)
			break;
		if (c->to != node || c->t4 != CALL_OPEN)
			continue; /* the latter: used by an earlier return */
		if (found && c->from != f->w->calls.v[f->chain[depth]].from)
			continue;
		if (found) {
			f->is_sure[depth] = false;
			break;
		}
		if (depth && is_first(f, call, r))
			nr = depth + 1;
		else if (depth + 1 < DEPTH_MAX && may_pass_on(f, call, r))
			nr = find(f, r, c->from, c->t1, depth + 1);
		if (!nr)
			continue;
		found = nr;
		f->chain[depth] = call;
		f->is_sure[depth] = true;
		if (r->id && has_id(f, call, r->id))
			break;
	}
	return found;
}

static void close_chain(struct forward *f, unsigned nr, const struct message *r)
{
	for (unsigned i = 0; i < nr; i++) {
		struct call *c = &f->w->calls.v[f->chain[i]];

		habit_learn(habits_of(&f->waits, c->from, i + 1 < nr ? c->to : r->from),
			    r->ns - c->t1);
		c->t4 = r->ns;
		c->is_sent = false;
		if (i + 1 == nr) {
			c->returned = r->number;
			continue;
		}
		if (!f->is_sure[i] || !f->is_sure[i + 1])
			continue;
		c->parent = f->chain[i + 1];
		c->confidence = 1;
		c->is_decided = true;
	}
}

void forward_tie(struct window *w, struct pairs *p, struct losses *losses)
{
	struct returns *orphans = pairs_orphans(p);
	struct forward f = { .w = w };
	size_t kept = 0;

	if (!orphans->nr)
		return;
	list_open(&f);
	f.keys = pairs_open_keys(p, w->calls.nr);
	for (size_t i = 0; i < orphans->nr; i++) {
		const struct message *r = &orphans->v[i];
		unsigned nr;

		f.steps = 0;
		nr = find(&f, r, r->from, r->ns, 0);
		if (nr) {
			close_chain(&f, nr, r);
			losses->count[LOSS_RETURNS_OPEN]--;
		} else {
			orphans->v[kept++] = *r;
		}
	}
	orphans->nr = kept;
	free(f.keys);
	vec_done(&f.open);
	vec_done(&f.edges);
	habits_done(&f.waits);
}
