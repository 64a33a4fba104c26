/*
 * FindCallPairs of the paper (Figure 4, section 5.1.1.1): a table of open calls by (sender,
 * receiver, id). Where ids are missing or used again, the earliest unmatched call is answered
 * first. A return without a call is set aside; a call without a return stays in the window, open,
 * until the window gives it up.
 *
 * Where we differ: in a queue of calls that nothing tells apart, one lost return would shift all
 * later pairs for ever. So the usual time to an answer is followed for each edge, a call that waits
 * far longer is passed over as soon as a younger one fits, and a return that comes too soon for
 * even the oldest is not taken for its answer (habits.h).
 */
#include "infer/paths/pairs.h"

#include <stdlib.h>

#include "infer/paths/calls.h"
#include "infer/paths/feed.h"
#include "infer/paths/habits.h"
#include "model/loss.h"

#define NONE UINT32_MAX
#define PASSED_OVER_MAX 8

/* One open call, queued behind earlier ones of the same key. */
struct open {
	uint64_t key;
	uint32_t call, node; /* which call, and who owes the answer */
	uint32_t next, last; /* in the queue; last only at its head */
	uint32_t chain;      /* the next head in the bucket */
};

struct pairs {
	struct losses *losses;
	VEC(struct open) open;
	uint32_t unused; /* a list by next */
	uint32_t *buckets, nr_buckets, nr_heads;
	struct habits habits;
	struct returns orphans;
	VEC(uint32_t) nr_open; /* by node: calls that it has not answered */
};

struct pairs *pairs_new(struct losses *losses)
{
	struct pairs *p = mem_zalloc(sizeof(*p));

	p->losses = losses;
	p->unused = NONE;
	p->nr_buckets = 1024;
	p->buckets = mem_alloc(mem_bytes(p->nr_buckets, sizeof(*p->buckets)));
	memset(p->buckets, 0xff, p->nr_buckets * sizeof(*p->buckets));
	return p;
}

void pairs_free(struct pairs *p)
{
	if (!p)
		return;
	free(p->buckets);
	vec_done(&p->open);
	vec_done(&p->orphans);
	vec_done(&p->nr_open);
	habits_done(&p->habits);
	free(p);
}

uint64_t pairs_key(uint32_t caller, uint32_t callee, uint64_t id)
{
	uint64_t k = (id ^ ((uint64_t)caller << 32 | callee)) * 0x9e3779b97f4a7c15ULL;

	k = (k ^ k >> 29) * 0xbf58476d1ce4e5b9ULL;
	return k ^ k >> 32;
}

/* Where the head of the queue with this key hangs, or where it would. */
static uint32_t *head_of(struct pairs *p, uint64_t key)
{
	uint32_t *at = &p->buckets[key & (p->nr_buckets - 1)];

	while (*at != NONE && p->open.v[*at].key != key)
		at = &p->open.v[*at].chain;
	return at;
}

static void grow(struct pairs *p)
{
	uint32_t nr = p->nr_buckets, *old = p->buckets;

	p->nr_buckets *= 2;
	p->buckets = mem_alloc(mem_bytes(p->nr_buckets, sizeof(*p->buckets)));
	memset(p->buckets, 0xff, p->nr_buckets * sizeof(*p->buckets));
	for (uint32_t i = 0; i < nr; i++)
		for (uint32_t at = old[i]; at != NONE;) {
			struct open *o = &p->open.v[at];
			uint32_t chain = o->chain, *to = &p->buckets[o->key & (p->nr_buckets - 1)];

			o->chain = *to;
			*to = at;
			at = chain;
		}
	free(old);
}

static void open_call(struct pairs *p, uint64_t key, uint32_t call, uint32_t node)
{
	struct open made = { key, call, node, NONE, NONE, NONE };
	uint32_t at = p->unused, *head;

	if (at != NONE)
		p->unused = p->open.v[at].next;
	else {
		at = (uint32_t)p->open.nr;
		vec_push(&p->open, made);
	}
	made.last = at;
	p->open.v[at] = made;
	head = head_of(p, key);
	if (*head == NONE) {
		*head = at;
		if (++p->nr_heads > p->nr_buckets)
			grow(p);
		return;
	}
	p->open.v[p->open.v[*head].last].next = at;
	p->open.v[*head].last = at;
}

/* Puts an entry that is in no queue any more among the unused. */
static uint32_t retire(struct pairs *p, uint32_t at)
{
	struct open *o = &p->open.v[at];
	uint32_t call = o->call;

	o->call = NONE;
	o->next = p->unused;
	p->unused = at;
	return call;
}

/* Takes the earliest call of the queue out. */
static uint32_t close_first(struct pairs *p, uint32_t *head)
{
	uint32_t at = *head;
	const struct open *o = &p->open.v[at];

	if (o->next == NONE) {
		*head = o->chain;
		p->nr_heads--;
	} else {
		p->open.v[o->next].chain = o->chain;
		p->open.v[o->next].last = o->last;
		*head = o->next;
	}
	return retire(p, at);
}

/* Takes the one behind before out. */
static uint32_t close_behind(struct pairs *p, uint32_t head, uint32_t before)
{
	uint32_t at = p->open.v[before].next;

	p->open.v[before].next = p->open.v[at].next;
	if (p->open.v[head].last == at)
		p->open.v[head].last = before;
	return retire(p, at);
}

static uint32_t *nr_open(struct pairs *p, uint32_t node)
{
	while (p->nr_open.nr <= node)
		vec_push(&p->nr_open, 0);
	return &p->nr_open.v[node];
}

static int64_t sent_at(const struct pairs *p, const struct window *w, uint32_t at)
{
	return at == NONE ? INT64_MAX : w->calls.v[p->open.v[at].call].t1;
}

/* It stays open in the window, but waits no more. */
static void give_up_first(struct pairs *p, uint32_t *head)
{
	--*nr_open(p, p->open.v[*head].node);
	close_first(p, head);
}

/*
 * The call of the queue that the return answers. The first that has not waited unusually long; when
 * all have, the youngest of those looked at, which is the least unlikely.
 */
static uint32_t close_fitting(struct pairs *p, const struct window *w, uint32_t *head,
			      const struct message *m, struct habit *h)
{
	uint32_t before = NONE, at, next;
	enum shift shift;

	if (!h)
		return close_first(p, head);
	if (habit_is_short(h, m->ns - sent_at(p, w, *head)))
		return NONE;
	while (p->open.v[*head].next != NONE && habit_is_hopeless(h, m->ns - sent_at(p, w, *head)))
		give_up_first(p, head);
	at = *head;
	for (unsigned i = 0; i < PASSED_OVER_MAX && p->open.v[at].next != NONE; i++) {
		if (!habit_is_long(h, m->ns - sent_at(p, w, at)))
			break;
		before = at;
		at = p->open.v[at].next;
	}
	next = p->open.v[at].next;
	shift = habit_weigh(h, sent_at(p, w, at), sent_at(p, w, next), m->ns);
	if (shift == SHIFT_AHEAD)
		return NONE;
	/* what was passed over now counts as given up as well */
	for (; shift == SHIFT_BEHIND && *head != next; before = NONE)
		give_up_first(p, head);
	return before == NONE ? close_first(p, head) : close_behind(p, *head, before);
}

static void take_return(struct pairs *p, struct window *w, const struct message *m)
{
	uint32_t *head = head_of(p, pairs_key(m->to, m->from, m->id)), call = NONE;
	bool is_queue = *head != NONE && p->open.v[*head].next != NONE;
	struct habit *h = is_queue || !m->id ? habits_of(&p->habits, m->to, m->from) : NULL;

	if (*head != NONE)
		call = close_fitting(p, w, head, m, h);
	if (call == NONE) {
		vec_push(&p->orphans, *m);
		p->losses->count[LOSS_RETURNS_OPEN]++;
		return;
	}
	--*nr_open(p, m->from);
	w->calls.v[call].t4 = m->ns;
	w->calls.v[call].returned = m->number;
	if (!w->calls.v[call].trace)
		w->calls.v[call].trace = m->trace;
	if (!h)
		return;
	habit_learn(h, m->ns - w->calls.v[call].t1);
	h->before = w->calls.v[call].t1;
}

void pairs_take(struct pairs *p, struct window *w, const struct message *m)
{
	struct call made = { .t1 = m->ns,
			     .t4 = CALL_OPEN,
			     .sent = m->number,
			     .returned = EVENT_NONE,
			     .position = m->position,
			     .from = m->from,
			     .to = m->to,
			     .parent = CALL_NONE,
			     .title = m->title,
			     .trace = m->trace };

	if (m->op == MESSAGE_RETURN) {
		take_return(p, w, m);
		return;
	}
	made.is_sent = m->op == MESSAGE_SENT;
	/* only who owes an answer can pass the work on */
	if (made.is_sent && !*nr_open(p, m->from))
		return;
	if (!made.is_sent) {
		open_call(p, pairs_key(m->from, m->to, m->id), (uint32_t)w->calls.nr, m->to);
		++*nr_open(p, m->to);
	}
	vec_push(&w->calls, made);
}

struct returns *pairs_orphans(struct pairs *p)
{
	return &p->orphans;
}

uint64_t *pairs_open_keys(const struct pairs *p, size_t nr_calls)
{
	uint64_t *keys = mem_zalloc(mem_bytes(nr_calls + 1, sizeof(*keys)));

	vec_each (&p->open, o)
		if (o->call != NONE)
			keys[o->call] = o->key;
	return keys;
}

/* Takes the calls that are gone out of a queue; answers where the next queue hangs. */
static uint32_t *forget(struct pairs *p, uint32_t *head)
{
	uint32_t before;

	while (p->open.v[*head].call == NONE) {
		bool is_last = p->open.v[*head].next == NONE;

		close_first(p, head);
		if (is_last)
			return head;
	}
	for (before = *head; p->open.v[before].next != NONE;)
		if (p->open.v[p->open.v[before].next].call == NONE)
			close_behind(p, *head, before);
		else
			before = p->open.v[before].next;
	return &p->open.v[*head].chain;
}

/* Calls that are gone leave their queues; the others learn their new places. */
void pairs_move(struct pairs *p, const uint32_t *to)
{
	vec_each (&p->open, o) {
		if (o->call == NONE)
			continue;
		if (to[o->call] == NONE)
			--*nr_open(p, o->node);
		o->call = to[o->call];
	}
	for (uint32_t i = 0; i < p->nr_buckets; i++)
		for (uint32_t *head = &p->buckets[i]; *head != NONE;)
			head = forget(p, head);
}
