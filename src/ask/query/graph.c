/*
 * Events of causal graphs: ids into numbers. An id is of its request; one that is not there is
 * looked for everywhere.
 *
 * Ids are resolved request by request, in a table that is as small as the request: one table of all
 * events would be read at random, which costs more than all the rest.
 */
#include "ask/query/moments.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/time.h"
#include "model/event.h"
#include "store/store.h"

#define NOT_THERE UINT32_MAX

struct graph {
	struct gathered *g;
	uint64_t first;        /* number of the first event here */
	struct map requests;   /* by hash: 1 + number */
	VEC(uint32_t) request; /* of each event, by number */
	VEC(uint64_t) id;      /* likewise: a hash */
	VEC(uint64_t) after;   /* hashes of causes, as they stand in before */
	uint8_t *is_point;     /* by number in the store */
};

static void take_causes(struct graph *x, struct str after)
{
	struct str id;

	while (str_take_bytes(&after, &id)) {
		vec_push(&x->after, str_hash(id));
		vec_push(&x->g->before, NOT_THERE);
	}
}

static uint32_t request_of(struct graph *x, struct str key)
{
	uint64_t *at = map_at(&x->requests, key.n ? str_hash(key) : 0);

	if (!*at)
		*at = x->requests.nr;
	return (uint32_t)(*at - 1);
}

static int take_event(void *ctx, uint64_t number, const struct event *ev)
{
	struct graph *x = ctx;
	struct moment m = { .ns = ev->ns,
			    .point = ev->point,
			    .host = ev->node,
			    .process = ev->peer,
			    .thread = ev->thread,
			    .id = ev->id,
			    .request = ev->key,
			    .start = NS_NONE,
			    .end = NS_NONE,
			    .attrs = ev->attrs };

	if (ev->kind != EVENT_POINT || x->g->ns.nr >= UINT32_MAX - 1)
		return 0;
	x->is_point[number] = 1;
	moments_add(x->g, &m);
	vec_push(&x->request, request_of(x, ev->key));
	vec_push(&x->id, str_hash(ev->id));
	take_causes(x, ev->after);
	moments_caused(x->g);
	return 0;
}

/* --- within a request ------------------------------------------------------------------------- */

/* Events by request, as they came within each. */
struct by_request {
	uint32_t *ends;   /* of each request in events */
	uint32_t *events; /* less the first one's number */
};

static void gather(const struct graph *x, struct by_request *to)
{
	size_t nr = x->request.nr;

	to->ends = mem_zalloc(mem_bytes(x->requests.nr + 1, sizeof(*to->ends)));
	to->events = mem_realloc(NULL, mem_bytes(nr + 1, sizeof(*to->events)));
	for (size_t i = 0; i < nr; i++)
		to->ends[x->request.v[i] + 1]++;
	for (size_t i = 1; i <= x->requests.nr; i++)
		to->ends[i] += to->ends[i - 1];
	/* what is its beginning yet is its end when all are placed */
	for (size_t i = 0; i < nr; i++)
		to->events[to->ends[x->request.v[i]]++] = (uint32_t)i;
}

/* Of one request: 1 + event, less the first one's number. */
struct table {
	uint32_t *slots;
	size_t nr, room;
};

static void table_begin(struct table *t, size_t nr_events)
{
	for (t->nr = 8; t->nr < 2 * nr_events;)
		t->nr *= 2;
	if (t->nr > t->room) {
		t->room = t->nr;
		t->slots = mem_realloc(t->slots, mem_bytes(t->room, sizeof(*t->slots)));
	}
	memset(t->slots, 0, t->nr * sizeof(*t->slots));
}

/* Where the id stands, or would stand. */
static uint32_t *table_at(const struct table *t, const struct graph *x, uint64_t id)
{
	size_t i = (size_t)(id * 0x9e3779b97f4a7c15u >> 32) & (t->nr - 1);

	while (t->slots[i] && x->id.v[t->slots[i] - 1] != id)
		i = (i + 1) & (t->nr - 1);
	return &t->slots[i];
}

static void resolve_request(struct graph *x, struct table *t, const uint32_t *events, size_t nr)
{
	struct gathered *g = x->g;
	size_t from = g->at.v[x->first];

	table_begin(t, nr);
	for (size_t i = 0; i < nr; i++) {
		uint32_t *at = table_at(t, x, x->id.v[events[i]]);

		g->nr_twice += *at != 0;
		if (!*at)
			*at = events[i] + 1;
	}
	for (size_t i = 0; i < nr; i++)
		for (size_t k = g->at.v[x->first + events[i]];
		     k < g->at.v[x->first + events[i] + 1]; k++) {
			uint32_t at = *table_at(t, x, x->after.v[k - from]);

			if (at)
				g->before.v[k] = (uint32_t)(x->first + at - 1);
		}
}

static void resolve_requests(struct graph *x)
{
	struct by_request by;
	struct table t = { 0 };
	uint32_t begin = 0;

	gather(x, &by);
	for (size_t i = 0; i < x->requests.nr; i++) {
		resolve_request(x, &t, by.events + begin, by.ends[i] - begin);
		begin = by.ends[i];
	}
	free(t.slots);
	free(by.ends);
	free(by.events);
}

/* --- everywhere ------------------------------------------------------------------------------- */

static void number_everywhere(const struct graph *x, struct map *all)
{
	map_reserve(all, x->id.nr);
	for (size_t i = 0; i < x->id.nr; i++) {
		uint64_t *at = map_at(all, x->id.v[i]);

		if (!*at)
			*at = x->first + i + 1;
	}
}

/* Those that are nowhere are left out. */
static void resolve(struct graph *x)
{
	struct gathered *g = x->g;
	size_t from = g->at.v[x->first], kept = from, k = from;
	struct map all = { 0 };

	resolve_requests(x);
	for (size_t i = x->first; i < g->ns.nr; i++) {
		size_t end = g->at.v[i + 1];

		for (; k < end; k++) {
			uint32_t number = g->before.v[k];
			uint64_t *at;

			if (number == NOT_THERE) {
				if (!all.nr)
					number_everywhere(x, &all);
				at = map_find(&all, x->after.v[k - from]);
				number = at ? (uint32_t)(*at - 1) : NOT_THERE;
			}
			if (number != NOT_THERE)
				g->before.v[kept++] = number;
			else
				g->nr_missing++;
		}
		g->at.v[i + 1] = kept;
	}
	g->before.nr = kept;
	map_done(&all);
}

int moments_graph(struct gathered *g, struct store *s, uint8_t **is_point, uint64_t *nr_events,
		  bool *is_all, struct error *err)
{
	struct graph x = { .g = g, .first = g->ns.nr };
	struct store_totals totals;
	int got = store_totals(s, &totals, err);

	if (got < 0)
		return got;
	*nr_events = totals.nr_events;
	*is_all = false;
	*is_point = x.is_point = mem_zalloc(totals.nr_events + 1);
	got = store_each_event(s, 0, totals.nr_events, take_event, &x, err);
	if (got >= 0)
		resolve(&x);
	/* each of them is in the run as a span as well */
	*is_all = x.id.nr && x.id.nr == totals.nr_events && x.id.nr >= totals.nr_spans;
	map_done(&x.requests);
	vec_done(&x.request);
	vec_done(&x.after);
	vec_done(&x.id);
	return got < 0 ? got : 0;
}
