/* Events of causal graphs: ids into numbers. An id is of its request; one that is not there is
 * looked for everywhere. */
#include "ask/query/moments.h"
#include "base/buf.h"
#include "model/event.h"
#include "store/store.h"

#include "base/time.h"

struct graph {
	struct gathered *g;
	struct map numbers;     /* by hash of request and id: 1 + event */
	VEC(uint64_t) after;    /* hashes of causes with the request … */
	VEC(uint64_t) anywhere; /* … and without */
	VEC(uint64_t) id;       /* of each event: its hash without the request */
	uint64_t first;         /* number of the first event here */
	uint8_t *is_point;      /* by number in the store */
};

static uint64_t with_request(uint64_t id, uint64_t request)
{
	return (id ^ request * 0x9e3779b97f4a7c15u) | 1;
}

static void take_causes(struct graph *x, struct str after, uint64_t request)
{
	struct str id;

	while (str_take_bytes(&after, &id)) {
		uint64_t h = str_hash(id);

		vec_push(&x->after, with_request(h, request));
		vec_push(&x->anywhere, h);
		vec_push(&x->g->before, 0);
	}
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
	uint64_t request, id, *at;
	uint32_t event;

	if (ev->kind != EVENT_POINT || x->g->ns.nr >= UINT32_MAX - 1)
		return 0;
	x->is_point[number] = 1;
	request = ev->key.n ? str_hash(ev->key) : 0;
	id = str_hash(ev->id);
	event = moments_add(x->g, &m);
	vec_push(&x->id, id);
	at = map_at(&x->numbers, with_request(id, request));
	x->g->nr_twice += *at != 0;
	if (!*at)
		*at = event + 1;
	take_causes(x, ev->after, request);
	moments_caused(x->g);
	return 0;
}

static void number_everywhere(const struct graph *x, struct map *all)
{
	map_reserve(all, x->id.nr);
	for (size_t i = 0; i < x->id.nr; i++) {
		uint64_t *at = map_at(all, x->id.v[i]);

		if (!*at)
			*at = x->first + i + 1;
	}
}

/* Causes stand in before as they came; those that are not there are left out. */
static void resolve(struct graph *x)
{
	struct gathered *g = x->g;
	size_t from = g->at.v[x->first], kept = from, k = from;
	struct map all = { 0 };

	for (size_t i = x->first; i < g->ns.nr; i++) {
		size_t end = g->at.v[i + 1];

		for (; k < end; k++) {
			uint64_t *at = map_find(&x->numbers, x->after.v[k - from]);

			if (!at && !all.nr)
				number_everywhere(x, &all);
			if (!at)
				at = map_find(&all, x->anywhere.v[k - from]);
			if (at)
				g->before.v[kept++] = (uint32_t)(*at - 1);
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
	map_done(&x.numbers);
	vec_done(&x.after);
	vec_done(&x.anywhere);
	vec_done(&x.id);
	return got < 0 ? got : 0;
}
