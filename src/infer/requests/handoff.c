#include "infer/requests/handoff.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"

enum {
	HUBS_MAX = 32,   /* further ones of an execution are left out */
	LOOK_MAX = 4096, /* further ones within the time are not looked at */
	TYPE_MIN = 10,   /* executions of a type that show a habit */
	AGAIN = 10       /* so many executions name the same thing: it tells none of them apart */
};
#define NEAR_NS INT64_C(1000000000)
#define HABIT 0.9 /* so many of both sides find each other */

/* Units of one execution. */
struct execution {
	uint32_t unit_at, nr; /* in units */
	int64_t start, end;
	uint32_t file, type; /* of its last line */
	uint32_t session;    /* 0: of several requests */
	bool is_named;
	uint32_t hub_at, nr_hubs; /* in hubs: what it names that others name as well */
	uint32_t partner;         /* 1 + the other execution; 0: none */
};

struct handing {
	struct work *w;
	VEC(uint32_t) units; /* by execution */
	VEC(struct execution) v;
	VEC(uint32_t) hubs;
	bool *is_known; /* of each thing: named over and over by executions that name nothing else
			 */
};

static void order_units(struct handing *h)
{
	size_t nr = h->w->units.nr;
	struct sort_item *v = mem_alloc(mem_bytes(nr + 1, sizeof(*v)));

	for (size_t i = 0; i < nr; i++)
		v[i] = (struct sort_item){ h->w->units.v[i].execution, i };
	sort_items(v, nr);
	vec_reserve(&h->units, nr);
	for (size_t i = 0; i < nr; i++)
		h->units.v[i] = (uint32_t)v[i].at;
	h->units.nr = nr;
	free(v);
}

static void add_unit(struct handing *h, uint32_t at)
{
	const struct unit *u = &h->w->units.v[h->units.v[at]];
	bool is_new = !at || h->w->units.v[h->units.v[at - 1]].execution != u->execution;
	struct execution *e;

	if (is_new)
		vec_push(&h->v, (struct execution){ .unit_at = at,
						    .start = u->start,
						    .end = u->end,
						    .file = work_line(h->w, u->from)->file,
						    .session = u->session });
	e = &h->v.v[h->v.nr - 1];
	e->nr++;
	e->end = u->end > e->end ? u->end : e->end;
	e->type = work_line(h->w, u->to - 1)->type;
	e->is_named |= u->nr_held > 0;
	if (u->is_batch || u->session != e->session)
		e->session = 0;
}

static void add_hub(struct handing *h, struct execution *e, uint32_t thing)
{
	if (!(h->w->is_hub[thing] || h->is_known[thing]) ||
	    h->w->is_measure[h->w->g->kind_of.v[thing]])
		return;
	for (uint32_t i = 0; i < e->nr_hubs; i++)
		if (h->hubs.v[e->hub_at + i] == thing)
			return;
	vec_push(&h->hubs, thing);
	e->nr_hubs++;
}

/* Where the executions of each type stand, in their order. */
struct by_type {
	uint32_t *at, *first; /* first[type] .. first[type + 1] in at */
};

static void sort_by_type(const struct handing *h, uint32_t nr_types, struct by_type *t)
{
	t->at = mem_realloc(NULL, mem_bytes(h->v.nr + 1, sizeof(*t->at)));
	t->first = mem_realloc(NULL, mem_bytes(nr_types + 2, sizeof(*t->first)));
	memset(t->first, 0, (nr_types + 2) * sizeof(*t->first));
	vec_each (&h->v, e)
		t->first[e->type + 2]++;
	for (uint32_t i = 2; i < nr_types + 2; i++)
		t->first[i] += t->first[i - 1];
	for (uint32_t i = 0; i < h->v.nr; i++)
		t->at[t->first[h->v.v[i].type + 1]++] = i;
}

static void by_type_done(struct by_type *t)
{
	free(t->at);
	free(t->first);
}

/* Names what the execution holds: how many of these were not named in this round. */
static uint32_t name_all(const struct handing *h, const struct execution *e, uint32_t *named,
			 uint32_t round)
{
	const struct work *w = h->w;
	uint32_t nr = 0;

	for (uint32_t k = 0; k < e->nr; k++) {
		const struct unit *u = &w->units.v[h->units.v[e->unit_at + k]];

		for (uint32_t i = 0; i < u->nr_held; i++) {
			uint32_t *at = &named[w->held.v[u->held_at + i].thing];

			nr += *at != round;
			*at = round;
		}
	}
	return nr;
}

static void know_all(struct handing *h, struct execution *e)
{
	const struct work *w = h->w;

	e->is_named = false;
	for (uint32_t k = 0; k < e->nr; k++) {
		const struct unit *u = &w->units.v[h->units.v[e->unit_at + k]];

		for (uint32_t i = 0; i < u->nr_held; i++)
			h->is_known[w->held.v[u->held_at + i].thing] = true;
	}
}

/* The members of a server and their ports: few things that all executions of a type name, whichever
 * work they do. An execution of such a type is as good as nameless. */
static void find_known(struct handing *h, uint32_t nr_types)
{
	uint32_t *named = work_counts(h->w->g->things.nr); /* of each thing: by which type last */
	struct by_type t;

	sort_by_type(h, nr_types, &t);
	for (uint32_t type = 0; type < nr_types; type++) {
		uint32_t from = t.first[type], to = t.first[type + 1];
		uint64_t distinct = 0;

		for (uint32_t i = from; i < to; i++)
			distinct += name_all(h, &h->v.v[t.at[i]], named, type + 1);
		if (to - from < AGAIN * distinct)
			continue;
		for (uint32_t i = from; i < to; i++)
			know_all(h, &h->v.v[t.at[i]]);
	}
	by_type_done(&t);
	free(named);
}

/* A nameless execution hands over what it names in its first unit. */
static void list_hubs(struct handing *h, struct execution *e)
{
	uint32_t nr = e->is_named ? e->nr : 1;

	e->hub_at = (uint32_t)h->hubs.nr;
	for (uint32_t k = 0; k < nr; k++) {
		const struct unit *u = &h->w->units.v[h->units.v[e->unit_at + k]];

		for (uint32_t at = u->from; at < u->to; at++) {
			const struct seen_line *l = work_line(h->w, at);

			for (unsigned i = 0; i < l->nr_own && e->nr_hubs < HUBS_MAX; i++)
				add_hub(h, e, line_names(h->w, l)[i]);
		}
	}
}

/* Whether both name the same hub. */
static bool meet(const struct handing *h, const struct execution *a, const struct execution *b)
{
	for (uint32_t i = 0; i < a->nr_hubs; i++)
		for (uint32_t k = 0; k < b->nr_hubs; k++)
			if (h->hubs.v[a->hub_at + i] == h->hubs.v[b->hub_at + k])
				return true;
	return false;
}

/* Pairs each nameless execution of one type with the next free one of the other; how many. */
static size_t pair_up(struct handing *h, const struct by_type *t, uint32_t from, uint32_t to,
		      uint32_t nr_loose, bool is_kept)
{
	size_t nr = 0, nr_asked = 0;
	uint32_t next = t->first[to], end = t->first[to + 1];
	uint8_t *used = mem_realloc(NULL, end - next + 1);

	memset(used, 0, end - next + 1);
	for (uint32_t i = t->first[from]; i < t->first[from + 1]; i++) {
		struct execution *a = &h->v.v[t->at[i]];

		if (a->is_named)
			continue;
		while (next < end && h->v.v[t->at[next]].end < a->start - NEAR_NS)
			next++;
		for (uint32_t k = next; k < end && k < next + LOOK_MAX; k++) {
			struct execution *b = &h->v.v[t->at[k]];

			if (b->start > a->start + NEAR_NS)
				break;
			/* one whose names were cut off keeps its place in the line */
			if (used[k - t->first[to]] || b->file != a->file || b->end < a->start ||
			    !meet(h, a, b))
				continue;
			used[k - t->first[to]] = 1;
			nr++;
			if (is_kept)
				a->partner = t->at[k] + 1;
			break;
		}
		nr_asked++;
		/* too many of them stay alone: it is no habit */
		if (!is_kept && (double)(nr_asked - nr) > (1 - HABIT) * nr_loose)
			break;
	}
	free(used);
	return nr;
}

static void try_types(struct handing *h, const uint32_t *loose, const uint32_t *named,
		      uint32_t nr_types)
{
	struct by_type t;

	sort_by_type(h, nr_types, &t);
	for (uint32_t a = 0; a < nr_types; a++) {
		size_t best = 0;
		uint32_t best_type = 0;

		if (loose[a] < TYPE_MIN)
			continue;
		for (uint32_t b = 0; b < nr_types; b++) {
			size_t nr;

			/* as many on both sides, or they do not hand over one by one */
			if (b == a || named[b] < HABIT * loose[a] || loose[a] < HABIT * named[b])
				continue;
			nr = pair_up(h, &t, a, b, loose[a], false);
			if (nr > best) {
				best = nr;
				best_type = b;
			}
		}
		if ((double)best >= HABIT * loose[a])
			pair_up(h, &t, a, best_type, loose[a], true);
	}
	by_type_done(&t);
}

static void join(struct handing *h)
{
	vec_each (&h->v, e) {
		const struct execution *other = e->partner ? &h->v.v[e->partner - 1] : NULL;

		for (uint32_t i = 0; i < e->nr; i++) {
			struct unit *u = &h->w->units.v[h->units.v[e->unit_at + i]];

			u->is_mixed = !e->session;
			if (!other)
				continue;
			u->is_batch = !other->session;
			u->session = other->session;
			u->is_mixed = false;
			u->is_served = false;
			u->parent = NO_UNIT;
			u->why = WHY_HANDED;
		}
	}
}

/* By start, then as their units stand. */
static void order_executions(struct handing *h)
{
	size_t nr = h->v.nr;
	struct sort_item *v = mem_alloc(mem_bytes(nr + 1, sizeof(*v)));
	struct execution *sorted = mem_alloc(mem_bytes(nr + 1, sizeof(*sorted)));

	for (size_t i = 0; i < nr; i++)
		v[i] = (struct sort_item){ sort_signed(h->v.v[i].start), i };
	sort_items(v, nr);
	for (size_t i = 0; i < nr; i++)
		sorted[i] = h->v.v[v[i].at];
	free(v);
	free(h->v.v);
	h->v.v = sorted;
	h->v.room = nr + 1;
}

void hand_off(struct work *w)
{
	struct handing h = { .w = w };
	uint32_t nr_types = w->g->types.nr + 1;
	uint32_t *loose = mem_realloc(NULL, mem_bytes(2 * (size_t)nr_types, sizeof(*loose)));
	uint32_t *named = loose + nr_types;

	memset(loose, 0, 2 * nr_types * sizeof(*loose));
	order_units(&h);
	for (uint32_t i = 0; i < h.units.nr; i++)
		add_unit(&h, i);
	h.is_known = mem_realloc(NULL, w->g->things.nr + 1);
	memset(h.is_known, 0, w->g->things.nr + 1);
	find_known(&h, nr_types);
	order_executions(&h);
	vec_each (&h.v, e)
		list_hubs(&h, e);
	vec_each (&h.v, e)
		(e->is_named ? named : loose)[e->type]++;
	try_types(&h, loose, named, nr_types);
	join(&h);
	free(loose);
	vec_done(&h.units);
	vec_done(&h.v);
	vec_done(&h.hubs);
	free(h.is_known);
}
