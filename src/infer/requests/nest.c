/*
 * Who does one thing after another has ended the first when the next begins. So what lies between
 * the first and the last call of a piece of work, and is done for the same client, is part of it.
 * Whether the names of a kind are those of such clients their sessions tell: they lie within each
 * other or apart, and hardly ever begin in one and end behind it.
 */
#include "infer/requests/nest.h"

#include <stdlib.h>

#include "base/mem.h"
#include "infer/requests/akin.h"
#include "infer/requests/hold.h"

enum {
	NESTED_MIN = 5,
	BEFORE_MAX = 16, /* earlier sessions of the client that one is held against */
};
#define SAME_SHARE \
	0.8 /* more are about one thing where the name is that of a thing, not of a client */
#define ASTRIDE_SHARE 0.2 /* of those that lie within: so many may begin in one and end behind */

/* Of a session: when it was served, and when it called. */
struct span {
	int64_t start, end, first_call, last_call;
	uint32_t nr_calls, unit; /* the first one */
};

/* A session that names a client. */
struct visit {
	uint32_t client, session;
	int64_t start;
	bool is_doubtful; /* the client began the same anew before the last call of it */
};

struct count {
	uint32_t within, astride;
	uint32_t same; /* within, and about the same thing */
};

struct nest {
	struct work *w;
	struct span *spans;
	uint32_t *into; /* of each session: the one that it is part of, or 0 */
	uint32_t nr;
	VEC(struct visit) visits;
	struct count *counts; /* of each kind */
};

/* Whether such names may be those of clients. */
static bool is_client(const struct work *w, uint32_t thing)
{
	const struct kind_look *look = work_look(w, thing);

	return look->stem && !look->is_numbers && !w->is_family[thing];
}

/* Whether the unit begins with the name. */
static bool begins_with(const struct work *w, uint32_t unit, uint32_t thing)
{
	const struct seen_line *l = work_line(w, w->units.v[unit].from);

	for (unsigned i = 0; i < l->nr_own; i++)
		if (line_names(w, l)[i] == thing)
			return true;
	return false;
}

static void note_span(struct nest *n, uint32_t unit)
{
	const struct unit *u = &n->w->units.v[unit];
	struct span *s = &n->spans[u->session];

	if (s->unit == NO_UNIT) {
		s->unit = unit;
		s->start = u->start;
	}
	s->end = u->end > s->end ? u->end : s->end;
	if (akin_dedicated(n->w, u))
		return;
	s->first_call = s->nr_calls ? s->first_call : u->start;
	s->last_call = u->end > s->last_call ? u->end : s->last_call;
	s->nr_calls++;
}

static void note_clients(struct nest *n, const struct unit *u)
{
	const struct work *w = n->w;
	const struct seen_line *l = work_line(w, u->from);

	for (unsigned i = 0; i < l->nr_own; i++)
		if (is_client(w, line_names(w, l)[i]) && !akin_in_path(w, l, line_names(w, l)[i]))
			vec_push(&n->visits, (struct visit){ .client = line_names(w, l)[i],
							     .session = u->session });
}

static int by_client(const void *a, const void *b)
{
	const struct visit *x = a, *y = b;

	if (x->client != y->client)
		return x->client < y->client ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->session < y->session ? -1 : x->session > y->session;
}

/* Each session once for each client, in order. */
static void order(struct nest *n)
{
	size_t kept = 0;

	vec_each (&n->visits, v)
		v->start = n->spans[v->session].start;
	if (n->visits.nr)
		qsort(n->visits.v, n->visits.nr, sizeof(*n->visits.v), by_client);
	for (size_t i = 0; i < n->visits.nr; i++)
		if (!kept || by_client(&n->visits.v[kept - 1], &n->visits.v[i]))
			n->visits.v[kept++] = n->visits.v[i];
	n->visits.nr = kept;
}

/* Who begins the same anew has ended it: what seems to have been called later was not. */
static void doubt(struct nest *n)
{
	const struct unit *units = n->w->units.v;

	for (size_t i = 0; i < n->visits.nr; i++) {
		struct visit *v = &n->visits.v[i];
		const struct span *s = &n->spans[v->session];

		for (size_t k = i + 1; k < n->visits.nr && k - i <= BEFORE_MAX; k++) {
			const struct visit *next = &n->visits.v[k];

			if (next->client != v->client || next->start >= s->last_call)
				break;
			v->is_doubtful |=
				units[n->spans[next->session].unit].type == units[s->unit].type;
		}
	}
}

/* Whether both deal with the same thing beside the client. */
static bool share_more(const struct work *w, uint32_t a, uint32_t b, uint32_t client)
{
	const struct unit *u = &w->units.v[a], *v = &w->units.v[b];

	for (uint32_t i = 0; i < u->nr_held; i++) {
		struct held h = w->held.v[u->held_at + i];

		if (h.depth >= DEPTH_PREFIX || work_look(w, h.thing)->is_numbers ||
		    hold_same_stem(w, w->g->kind_of.v[h.thing], w->g->kind_of.v[client]))
			continue;
		for (uint32_t k = 0; k < v->nr_held; k++)
			if (w->held.v[v->held_at + k].thing == h.thing &&
			    w->held.v[v->held_at + k].depth < DEPTH_PREFIX)
				return true;
	}
	return false;
}

/* Holds a session against the earlier ones of its client: how many it lies within, the last of
 * these, and whether it lies astride the end of one. What is sure leaves out those in doubt. */
static uint32_t hold_against(const struct nest *n, size_t at, bool is_sure, uint32_t *nr,
			     bool *is_astride)
{
	const struct visit *v = &n->visits.v[at];
	const struct span *s = &n->spans[v->session];
	uint32_t found = 0;

	*nr = 0;
	*is_astride = false;
	for (size_t i = at; i > 0 && at - i < BEFORE_MAX; i--) {
		const struct visit *a = &n->visits.v[i - 1];
		const struct span *t = &n->spans[a->session];

		if (a->client != v->client)
			break;
		/* a part of what is made is not there yet when that is begun */
		if (t->nr_calls < 2 || (is_sure && a->is_doubtful) ||
		    !begins_with(n->w, t->unit, v->client) || s->start < t->first_call ||
		    s->start >= t->last_call)
			continue;
		if (s->end > t->last_call) {
			*is_astride = true;
			continue;
		}
		found = a->session;
		++*nr;
	}
	return found;
}

static void learn(struct nest *n)
{
	for (size_t i = 0; i < n->visits.nr; i++) {
		struct count *c = &n->counts[n->w->g->kind_of.v[n->visits.v[i].client]];
		bool is_astride;
		uint32_t nr, found = hold_against(n, i, false, &nr, &is_astride);

		c->astride += is_astride;
		if (!nr || is_astride)
			continue;
		c->within++;
		c->same += share_more(n->w, n->spans[found].unit,
				      n->spans[n->visits.v[i].session].unit, n->visits.v[i].client);
	}
}

static void decide(struct nest *n)
{
	for (size_t i = 0; i < n->visits.nr; i++) {
		const struct visit *v = &n->visits.v[i];
		const struct count *c = &n->counts[n->w->g->kind_of.v[v->client]];
		bool is_astride;
		uint32_t nr, found;

		if (c->within < NESTED_MIN || c->astride > ASTRIDE_SHARE * c->within ||
		    c->same > SAME_SHARE * c->within)
			continue;
		found = hold_against(n, i, true, &nr, &is_astride);
		if (nr == 1 && !is_astride && !n->into[v->session]) {
			n->into[v->session] = n->into[found] ? n->into[found] : found;
			n->w->units.v[n->spans[v->session].unit].thing = v->client;
		}
	}
}

static void join(struct nest *n)
{
	for (uint32_t i = 0; i < n->w->units.nr; i++) {
		struct unit *u = &n->w->units.v[i];
		uint32_t into = n->into[u->session];

		if (!into)
			continue;
		if (n->spans[u->session].unit == i) {
			u->parent = n->spans[into].unit;
			u->why = WHY_WITHIN;
		}
		u->session = into;
	}
}

void nest_find(struct work *w)
{
	struct nest n = { .w = w };

	vec_each (&w->units, u)
		n.nr = u->session > n.nr ? u->session : n.nr;
	n.spans = mem_zalloc(mem_bytes((size_t)n.nr + 1, sizeof(*n.spans)));
	n.into = mem_zalloc(mem_bytes((size_t)n.nr + 1, sizeof(*n.into)));
	n.counts = mem_zalloc(mem_bytes((size_t)w->g->kinds.nr + 1, sizeof(*n.counts)));
	for (uint32_t i = 0; i <= n.nr; i++)
		n.spans[i].unit = NO_UNIT;
	for (uint32_t i = 0; i < w->units.nr; i++) {
		const struct unit *u = &w->units.v[i];

		if (u->is_batch || u->is_undated || u->family || u->turn || !u->is_served)
			continue;
		note_span(&n, i);
		note_clients(&n, u);
	}
	order(&n);
	doubt(&n);
	learn(&n);
	decide(&n);
	join(&n);
	vec_done(&n.visits);
	free(n.spans);
	free(n.into);
	free(n.counts);
}
