#include "infer/convolve/traffic.h"

#include <stdlib.h>

#include "base/time.h"
#include "store/store.h"

void traffic_done(struct traffic *t)
{
	names_done(&t->nodes);
	vec_done(&t->v);
	vec_done(&t->routes);
	vec_done(&t->out);
	vec_done(&t->out_first);
	vec_done(&t->in);
	vec_done(&t->in_first);
}

/* A route is found by its two nodes; until settled, sent.route is the number of that pair. */
static uint32_t route_of(struct traffic *t, struct str from, struct str to)
{
	sym_t pair[] = { names_add(&t->nodes, from), names_add(&t->nodes, to) };

	/* consecutive messages are often of the same route */
	if (t->v.nr) {
		uint32_t last = t->v.v[t->v.nr - 1].route;

		if (t->routes.v[last].from == pair[0] && t->routes.v[last].to == pair[1])
			return last;
	}
	while (t->out_first.nr <= pair[0])
		vec_push(&t->out_first, SENT_NONE);
	/* until settled, out chains the routes of a sender */
	for (uint32_t r = t->out_first.v[pair[0]]; r != SENT_NONE; r = t->out.v[r])
		if (t->routes.v[r].to == pair[1])
			return r;
	vec_push(&t->routes, (struct route){ pair[0], pair[1], 0, 0 });
	vec_push(&t->out, t->out_first.v[pair[0]]);
	t->out_first.v[pair[0]] = (uint32_t)t->routes.nr - 1;
	return (uint32_t)t->routes.nr - 1;
}

void traffic_add(struct traffic *t, struct str from, struct str to, int64_t ns, uint64_t number)
{
	uint32_t route;

	t->position++;
	if (t->v.nr >= SENT_NONE - 1)
		return;
	route = route_of(t, from, to);
	t->routes.v[route].nr++;
	vec_push(&t->v, (struct sent){ .ns = ns,
				       .number = number,
				       .position = t->position,
				       .route = route,
				       .cause = SENT_NONE });
}

static int by_route_and_time(const void *a, const void *b)
{
	const struct sent *x = a, *y = b;

	if (x->route != y->route)
		return x->route < y->route ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->position < y->position ? -1 : x->position > y->position;
}

/* Lists the routes of each node. */
static void list_routes(const struct traffic *t, bool by_sender, uint32_t *first, uint32_t *list)
{
	uint32_t nr_nodes = t->nodes.nr;

	for (size_t i = 0; i < t->routes.nr; i++)
		first[(by_sender ? t->routes.v[i].from : t->routes.v[i].to) + 2]++;
	for (uint32_t i = 2; i < nr_nodes + 3; i++)
		first[i] += first[i - 1];
	for (uint32_t i = 0; i < t->routes.nr; i++)
		list[first[(by_sender ? t->routes.v[i].from : t->routes.v[i].to) + 1]++] = i;
}

void traffic_settle(struct traffic *t)
{
	uint32_t at = 0, nr_nodes = t->nodes.nr;

	if (!t->v.nr)
		return;
	qsort(t->v.v, t->v.nr, sizeof(*t->v.v), by_route_and_time);
	vec_each (&t->routes, r) {
		r->first = at;
		at += r->nr;
	}
	vec_each (&t->v, m) {
		if (m == t->v.v || m->ns < t->first_ns)
			t->first_ns = m->ns;
		if (m == t->v.v || m->ns > t->last_ns)
			t->last_ns = m->ns;
	}
	vec_reserve(&t->out_first, nr_nodes + 4);
	vec_reserve(&t->in_first, nr_nodes + 4);
	vec_reserve(&t->out, t->routes.nr + 1);
	vec_reserve(&t->in, t->routes.nr + 1);
	memset(t->out_first.v, 0, (nr_nodes + 4) * sizeof(*t->out_first.v));
	memset(t->in_first.v, 0, (nr_nodes + 4) * sizeof(*t->in_first.v));
	t->out_first.nr = t->in_first.nr = nr_nodes + 4;
	list_routes(t, true, t->out_first.v, t->out.v);
	list_routes(t, false, t->in_first.v, t->in.v);
}

/* --- from a store ----------------------------------------------------------------------------- */

struct reading {
	struct traffic *t;
	struct store *store;
	bool all;
	bool is_message;
	uint64_t at; /* the first event of the file at hand */
	struct error *err;
};

static int look(void *ctx, uint64_t number, const struct event *ev)
{
	struct reading *r = ctx;

	(void)number;
	r->is_message = ev->kind == EVENT_MESSAGE;
	return 0;
}

static int take(void *ctx, uint64_t number, const struct event *ev)
{
	struct reading *r = ctx;

	if (ev->kind != EVENT_MESSAGE)
		return 0;
	if (ev->ns == NS_NONE || (!r->all && ev->op != MESSAGE_SENT) ||
	    store_is_placed(r->store, number))
		r->t->position++;
	else
		traffic_add(r->t, ev->node, ev->peer, ev->ns, number);
	return 0;
}

/* Files hold messages or none; a look at the first event spares the walk over all log lines. */
static int take_file(void *ctx, const struct stored_file *file)
{
	struct reading *r = ctx;
	int got = 0;

	r->is_message = false;
	if (file->nr_events)
		got = store_each_event(r->store, r->at, 1, look, r, r->err);
	if (got >= 0 && r->is_message)
		got = store_each_event(r->store, r->at, file->nr_events, take, r, r->err);
	r->at += file->nr_events;
	return got;
}

int traffic_read(struct traffic *t, struct store *s, bool all, struct error *err)
{
	struct reading r = { .t = t, .store = s, .all = all, .err = err };

	return store_each_file(s, take_file, &r, err);
}
