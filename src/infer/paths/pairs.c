/*
 * FindCallPairs of the paper (Figure 4, section 5.1.1.1): a table of open calls by (sender,
 * receiver, id). Where ids are missing or used again, the earliest unmatched call is answered
 * first. A return without a call is counted and left out; a call without a return stays in the
 * window, open, until the window gives it up.
 */
#include "infer/paths/pairs.h"

#include <stdlib.h>

#include "infer/paths/calls.h"
#include "infer/paths/feed.h"
#include "model/loss.h"

#define NONE UINT32_MAX

/* One open call, queued behind earlier ones of the same key. */
struct open {
	uint64_t key;
	uint32_t call;
	uint32_t next, last; /* in the queue; last only at its head */
	uint32_t chain;      /* the next head in the bucket */
};

struct pairs {
	struct losses *losses;
	VEC(struct open) open;
	uint32_t unused; /* a list by next */
	uint32_t *buckets, nr_buckets, nr_heads;
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
	free(p);
}

static uint64_t key_of(uint32_t caller, uint32_t callee, uint64_t id)
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

static void open_call(struct pairs *p, uint64_t key, uint32_t call)
{
	struct open made = { key, call, NONE, NONE, NONE };
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

/* Takes the earliest call of the queue out; NONE when there is no such queue. */
static uint32_t close_call(struct pairs *p, uint32_t *head)
{
	uint32_t at = *head, call;
	struct open *o;

	if (at == NONE)
		return NONE;
	o = &p->open.v[at];
	call = o->call;
	if (o->next == NONE) {
		*head = o->chain;
		p->nr_heads--;
	} else {
		p->open.v[o->next].chain = o->chain;
		p->open.v[o->next].last = o->last;
		*head = o->next;
	}
	o->call = NONE;
	o->next = p->unused;
	p->unused = at;
	return call;
}

void pairs_take(struct pairs *p, struct window *w, const struct message *m)
{
	uint32_t call;

	if (m->op == MESSAGE_CALL) {
		open_call(p, key_of(m->from, m->to, m->id), (uint32_t)w->calls.nr);
		vec_push(&w->calls, (struct call){ .t1 = m->ns,
						   .t4 = CALL_OPEN,
						   .sent = m->number,
						   .position = m->position,
						   .from = m->from,
						   .to = m->to,
						   .parent = CALL_NONE });
		return;
	}
	if (m->op != MESSAGE_RETURN)
		return;
	call = close_call(p, head_of(p, key_of(m->to, m->from, m->id)));
	if (call == NONE) {
		p->losses->count[LOSS_RETURNS_OPEN]++;
		return;
	}
	w->calls.v[call].t4 = m->ns;
	w->calls.v[call].returned = m->number;
}

/* Queues whose calls are gone are taken apart; the others learn the new places. */
void pairs_move(struct pairs *p, const uint32_t *to)
{
	vec_each (&p->open, o)
		if (o->call != NONE)
			o->call = to[o->call];
	for (uint32_t i = 0; i < p->nr_buckets; i++)
		for (uint32_t *head = &p->buckets[i]; *head != NONE;) {
			uint32_t at = *head;

			if (p->open.v[at].call == NONE)
				close_call(p, head);
			else
				head = &p->open.v[at].chain;
		}
}
