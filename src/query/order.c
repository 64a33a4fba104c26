/*
 * Near-linear: sorting is by digits, executions are found by joining sets. Where times contradict
 * causality, that execution alone is put in order by a heap of the events whose causes are all
 * placed.
 */
#include "query/order.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/vec.h"

#define NOT_PLACED UINT32_MAX

struct ordering {
	const struct happened *h;
	uint32_t *root;  /* of each event: an earlier one of its execution, or itself */
	uint32_t *place; /* of each event by time; later in the order */
	uint32_t *events;
	bool *is_odd; /* by root: times contradict causality */
};

static uint32_t find(uint32_t *root, uint32_t i)
{
	while (root[i] != i) {
		root[i] = root[root[i]];
		i = root[i];
	}
	return i;
}

static void find_executions(struct ordering *o)
{
	for (size_t i = 0; i < o->h->nr; i++)
		o->root[i] = (uint32_t)i;
	for (size_t i = 0; i < o->h->nr; i++)
		for (uint64_t k = o->h->at[i]; k < o->h->at[i + 1]; k++) {
			uint32_t a = find(o->root, (uint32_t)i);
			uint32_t b = find(o->root, o->h->before[k]);

			if (a < b)
				o->root[b] = a;
			else
				o->root[a] = b;
		}
	for (size_t i = 0; i < o->h->nr; i++)
		o->root[i] = find(o->root, (uint32_t)i);
}

static uint64_t time_of(const void *record)
{
	return ((const struct sort_item *)record)->key;
}

static void sort_by_time(struct ordering *o)
{
	size_t nr = o->h->nr;
	bool sorted = true;

	for (size_t i = 1; i < nr && sorted; i++)
		sorted = o->h->ns[i - 1] <= o->h->ns[i];
	for (size_t i = 0; i < nr; i++)
		o->events[i] = (uint32_t)i;
	if (!sorted) {
		struct sort_item *v = mem_realloc(NULL, mem_bytes(nr, sizeof(*v)));

		for (size_t i = 0; i < nr; i++)
			v[i] = (struct sort_item){ sort_signed(o->h->ns[i]), i };
		sort_records(v, nr, sizeof(*v), time_of);
		for (size_t i = 0; i < nr; i++)
			o->events[i] = (uint32_t)v[i].at;
		free(v);
	}
	for (size_t i = 0; i < nr; i++)
		o->place[o->events[i]] = (uint32_t)i;
}

/* Executions in the order of their first event by time. */
static void gather_executions(struct ordering *o, struct order *out)
{
	size_t nr = o->h->nr, nr_roots = 0;
	uint32_t *sorted = mem_realloc(NULL, mem_bytes(nr + 1, sizeof(*sorted)));
	uint32_t *number = mem_zalloc(mem_bytes(nr + 1, sizeof(*number)));
	uint32_t *at;

	for (size_t i = 0; i < nr; i++)
		if (!number[o->root[o->events[i]]])
			number[o->root[o->events[i]]] = (uint32_t)++nr_roots;
	at = mem_zalloc(mem_bytes(nr_roots + 2, sizeof(*at)));
	for (size_t i = 0; i < nr; i++)
		at[number[o->root[i]] + 1]++;
	for (size_t i = 1; i <= nr_roots + 1; i++)
		at[i] += at[i - 1];
	for (size_t i = 0; i < nr; i++) {
		uint32_t e = o->events[i];

		sorted[at[number[o->root[e]]]++] = e;
	}
	free(o->events);
	free(number);
	o->events = sorted;
	out->ends = at; /* at[n] is now the end of execution n */
	memmove(out->ends, out->ends + 1, nr_roots * sizeof(*at));
	out->nr_ends = nr_roots;
}

static void find_odd(struct ordering *o)
{
	for (size_t i = 0; i < o->h->nr; i++)
		for (uint64_t k = o->h->at[i]; k < o->h->at[i + 1]; k++)
			if (o->place[o->h->before[k]] >= o->place[i])
				o->is_odd[o->root[i]] = true;
}

/* --- an execution whose times contradict causality -------------------------------------------- */

struct heap {
	VEC(uint32_t) v; /* places by time */
};

static void heap_push(struct heap *h, uint32_t key)
{
	size_t i = h->v.nr;

	vec_push(&h->v, key);
	for (; i && h->v.v[(i - 1) / 2] > key; i = (i - 1) / 2)
		h->v.v[i] = h->v.v[(i - 1) / 2];
	h->v.v[i] = key;
}

static uint32_t heap_pop(struct heap *h)
{
	uint32_t least = h->v.v[0], last = h->v.v[--h->v.nr];
	size_t i = 0, nr = h->v.nr;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < nr && h->v.v[child + 1] < h->v.v[child])
			child++;
		if (child >= nr || h->v.v[child] >= last)
			break;
		h->v.v[i] = h->v.v[child];
		i = child;
	}
	if (nr)
		h->v.v[i] = last;
	return least;
}

struct untangle {
	uint32_t *waits;    /* by event: causes not placed yet */
	uint32_t *first;    /* by event: where its followers begin in next */
	VEC(uint32_t) next; /* followers, each with … */
	VEC(uint32_t) link; /* … the one after it */
	uint32_t *by_place; /* the event of a place by time */
};

static void followers(struct ordering *o, struct untangle *u, const uint32_t *v, size_t nr)
{
	vec_clear(&u->next);
	vec_clear(&u->link);
	vec_push(&u->next, 0);
	vec_push(&u->link, 0);
	for (size_t i = 0; i < nr; i++)
		u->first[v[i]] = u->waits[v[i]] = 0;
	for (size_t i = 0; i < nr; i++)
		for (uint64_t k = o->h->at[v[i]]; k < o->h->at[v[i] + 1]; k++) {
			vec_push(&u->next, v[i]);
			vec_push(&u->link, u->first[o->h->before[k]]);
			u->first[o->h->before[k]] = (uint32_t)u->next.nr - 1;
			u->waits[v[i]]++;
		}
}

/* Where nothing is free of causes, there is a circle: the earliest by time is freed. */
static void place_all(struct ordering *o, struct untangle *u, uint32_t *v, size_t nr,
		      uint64_t *nr_circular)
{
	uint32_t *by_time = mem_realloc(NULL, mem_bytes(nr + 1, sizeof(*by_time)));
	struct heap h = { 0 };
	size_t at = 0, stuck = 0;

	memcpy(by_time, v, nr * sizeof(*v));
	for (size_t i = 0; i < nr; i++)
		if (!u->waits[v[i]])
			heap_push(&h, o->place[v[i]]);
	while (at < nr) {
		uint32_t e;

		while (!h.v.nr) {
			if (u->waits[by_time[stuck]] && u->waits[by_time[stuck]] != NOT_PLACED) {
				*nr_circular += u->waits[by_time[stuck]];
				u->waits[by_time[stuck]] = 0;
				heap_push(&h, o->place[by_time[stuck]]);
			}
			stuck++;
		}
		e = u->by_place[heap_pop(&h)];
		u->waits[e] = NOT_PLACED;
		v[at++] = e;
		for (uint32_t k = u->first[e]; k; k = u->link.v[k]) {
			uint32_t f = u->next.v[k];

			if (u->waits[f] && u->waits[f] != NOT_PLACED && !--u->waits[f])
				heap_push(&h, o->place[f]);
		}
	}
	vec_done(&h.v);
	free(by_time);
}

static void untangle(struct ordering *o, struct order *out)
{
	struct untangle u = { 0 };
	size_t nr = o->h->nr, begin = 0;

	u.waits = mem_realloc(NULL, mem_bytes(nr + 1, sizeof(*u.waits)));
	u.first = mem_realloc(NULL, mem_bytes(nr + 1, sizeof(*u.first)));
	u.by_place = mem_realloc(NULL, mem_bytes(nr + 1, sizeof(*u.by_place)));
	for (size_t i = 0; i < nr; i++)
		u.by_place[o->place[i]] = (uint32_t)i;
	for (size_t i = 0; i < out->nr_ends; i++) {
		uint32_t *v = o->events + begin;
		size_t n = out->ends[i] - begin;

		if (n && o->is_odd[o->root[v[0]]]) {
			followers(o, &u, v, n);
			place_all(o, &u, v, n, &out->nr_circular);
		}
		begin = out->ends[i];
	}
	free(u.waits);
	free(u.first);
	free(u.by_place);
	vec_done(&u.next);
	vec_done(&u.link);
}

void order_make(struct order *out, const struct happened *h)
{
	struct ordering o = { .h = h };
	bool any = false;

	*out = (struct order){ 0 };
	o.root = mem_realloc(NULL, mem_bytes(h->nr + 1, sizeof(*o.root)));
	o.place = mem_realloc(NULL, mem_bytes(h->nr + 1, sizeof(*o.place)));
	o.events = mem_realloc(NULL, mem_bytes(h->nr + 1, sizeof(*o.events)));
	o.is_odd = mem_zalloc(h->nr + 1);
	find_executions(&o);
	sort_by_time(&o);
	find_odd(&o);
	gather_executions(&o, out);
	for (size_t i = 0; i < h->nr && !any; i++)
		any = o.is_odd[i];
	if (any)
		untangle(&o, out);
	out->events = o.events;
	free(o.root);
	free(o.place);
	free(o.is_odd);
}

void order_done(struct order *o)
{
	free(o->events);
	free(o->ends);
	*o = (struct order){ 0 };
}
