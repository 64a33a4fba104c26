/*
 * A visitor has a thread of its own, alone of its sort in its log, in which nothing but one
 * statement names things. What it names was done long before, nothing that was done to things is
 * surely followed by a visit, and what comes at once after it does so by chance. One pass over the
 * units and what they may follow, and two for each such statement.
 */
#include "infer/requests/visit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	VISITS_MIN = 8,
	DEEDS_MIN = 20,
	LONERS_MAX = 16, /* further ones are not looked at */
};
enum { UNKNOWN, VISITOR, NO_VISITOR };
#define OWN_SHARE 0.9 /* of what names things in such threads */
#define CHANCE 0.3
#define SURELY 0.7
#define CONFIDENT 3.0 /* standard deviations: many statements are tried */
#define ALL 0.95
#define SOON_NS INT64_C(200000000)
#define SEVERAL UINT64_MAX

/* A statement that begins units, in a log and a pool of threads. */
struct habit {
	uint32_t type;
	uint64_t pool;  /* file and family of threads */
	uint32_t nr;    /* units that name something */
	uint32_t late;  /* of these: to which nothing else was done just before */
	uint32_t first; /* those of which nothing else named the thing */
	uint32_t ahead; /* of something else that is done at once */
};

struct visitors {
	struct work *w;
	const struct ties *l;
	struct map pools;   /* file and family of threads: units that name something */
	struct map threads; /* likewise: 1 + the one thread that does, or SEVERAL */
	struct map at;      /* type and pool: 1 + number in habits */
	struct map ahead;   /* units that are counted as ahead */
	VEC(struct habit) habits;
	uint8_t *state; /* of each type */
};

static uint64_t pool_of(const struct work *w, const struct unit *u)
{
	const struct seen_line *l = work_line(w, u->from);

	return map_pair(l->file, w->family[l->thread]);
}

static struct habit *habit_of(struct visitors *v, const struct unit *u)
{
	uint64_t pool = pool_of(v->w, u);
	uint64_t *at =
		map_at(&v->at, ((pool ^ (pool >> 29)) * 0x9e3779b97f4a7c15u) ^ (uint64_t)u->type);

	if (!*at) {
		vec_push(&v->habits, (struct habit){ .type = u->type, .pool = pool });
		*at = v->habits.nr;
	}
	return &v->habits.v[*at - 1];
}

/* When something else was last done to what the unit names; INT64_MIN: never. */
static int64_t done_before(struct visitors *v, uint32_t unit)
{
	const struct ties *l = v->l;
	const struct unit *u = &v->w->units.v[unit];
	int64_t last = INT64_MIN;

	for (uint32_t i = l->at.v[unit]; i < l->at.v[unit + 1]; i++) {
		const struct unit *a = &v->w->units.v[l->v.v[i].unit];
		uint64_t *is_ahead;

		if (a->type == u->type || l->v.v[i].is_last)
			continue;
		last = a->end > last ? a->end : last;
		if (u->start - a->end > SOON_NS || *(is_ahead = map_at(&v->ahead, l->v.v[i].unit)))
			continue;
		*is_ahead = 1;
		habit_of(v, a)->ahead++;
	}
	return last;
}

static void see(struct visitors *v, uint32_t unit)
{
	const struct unit *u = &v->w->units.v[unit];
	uint64_t pool = pool_of(v->w, u), thread = work_line(v->w, u->from)->thread + (uint64_t)1;
	int64_t before = done_before(v, unit);
	uint64_t *only;
	struct habit *h;

	if (!u->nr_held)
		return;
	(*map_at(&v->pools, pool))++;
	only = map_at(&v->threads, pool);
	*only = !*only || *only == thread ? thread : SEVERAL;
	h = habit_of(v, u);
	h->nr++;
	h->first += before == INT64_MIN;
	h->late += before != INT64_MIN && u->start - before > SOON_NS;
}

/* Whether it looks like a visitor, but for what it may follow. */
static bool is_loner(const struct visitors *v, const struct habit *h)
{
	return h->nr >= VISITS_MIN && *map_find(&v->threads, h->pool) != SEVERAL &&
	       h->nr >= OWN_SHARE * (double)*map_find(&v->pools, h->pool) &&
	       h->late > CHANCE * (h->nr - h->first) && h->ahead < CHANCE * h->nr;
}

/* What one type of loner names, and when it did so last. */
struct round {
	uint32_t type;
	struct map last;       /* thing: unit that visited it last, plus 1 */
	struct map kinds;      /* of what it names */
	struct map nr;         /* type: such units that name something new to them */
	struct map nr_visited; /* of these: to what is visited afterwards */
	struct map seen;       /* type and thing */
	struct map things;     /* that others name */
	uint32_t nr_things;
	uint32_t nr_visits; /* how many of these are visited */
};

static void see_visits(struct visitors *v, struct round *r)
{
	const struct work *w = v->w;

	for (uint32_t i = 0; i < w->units.nr; i++) {
		const struct unit *u = &w->units.v[i];

		for (uint32_t k = 0; k < u->nr_held && u->type == r->type; k++) {
			struct held h = w->held.v[u->held_at + k];

			if (h.depth)
				continue;
			*map_at(&r->last, h.thing) = i + 1u;
			*map_at(&r->kinds, w->g->kind_of.v[h.thing]) = 1;
		}
	}
}

/* Whether the unit does its work to something for the first time; *is_visited: to something that is
 * visited later. */
static bool is_deed(struct visitors *v, struct round *r, uint32_t unit, bool *is_visited)
{
	const struct work *w = v->w;
	const struct unit *u = &w->units.v[unit];
	bool is_new = false;

	*is_visited = false;
	for (uint32_t k = 0; k < u->nr_held; k++) {
		struct held h = w->held.v[u->held_at + k];
		const uint64_t *last;
		uint64_t *seen;

		if (h.depth || !map_find(&r->kinds, w->g->kind_of.v[h.thing]))
			continue;
		seen = map_at(&r->seen, map_pair(u->type, h.thing));
		if ((*seen)++)
			continue;
		last = map_find(&r->last, h.thing);
		seen = map_at(&r->things, h.thing);
		r->nr_things += !*seen;
		r->nr_visits += !*seen && last;
		*seen = 1;
		is_new = true;
		*is_visited |= last && *last > unit;
	}
	return is_new;
}

static void see_others(struct visitors *v, struct round *r)
{
	const struct work *w = v->w;

	for (uint32_t i = 0; i < w->units.nr; i++) {
		const struct unit *u = &w->units.v[i];
		bool is_visited;

		if (u->type == r->type || u->is_batch || !is_deed(v, r, i, &is_visited))
			continue;
		(*map_at(&r->nr, u->type))++;
		*map_at(&r->nr_visited, u->type) += is_visited;
	}
}

/* Whether so many of the deeds show that what they are done to is visited more surely than anything
 * is. Where all is visited, whoever does anything to it, nothing shows that it is not due. */
static bool shows(const struct round *r, double deeds, double visited)
{
	double p = visited / deeds, z = CONFIDENT;
	double all = (double)r->nr_visits / r->nr_things;
	double least = (p + z * z / 2 / deeds -
			z * sqrt(p * (1 - p) / deeds + z * z / 4 / deeds / deeds)) /
		       (1 + z * z / deeds);

	return deeds >= DEEDS_MIN && p >= SURELY && (least > all || all > ALL);
}

/* Whether all that something is done to is visited afterwards. Deeds are counted, not names: one
 * thing has several (blk_1, blk_1_2). Of many statements one looks so by chance, unless it is seen
 * often. */
static bool is_due(struct visitors *v, uint32_t type)
{
	struct round r = { .type = type };
	bool is_due = false;

	see_visits(v, &r);
	see_others(v, &r);
	for (const struct map_slot *s = NULL; (s = map_next(&r.nr, s));)
		is_due |= shows(&r, (double)s->value, (double)*map_find(&r.nr_visited, s->key));
	map_done(&r.last);
	map_done(&r.kinds);
	map_done(&r.nr);
	map_done(&r.nr_visited);
	map_done(&r.seen);
	map_done(&r.things);
	return is_due;
}

static void find_visitors(struct visitors *v)
{
	unsigned nr = 0;

	vec_each (&v->habits, h) {
		if (!is_loner(v, h) || v->state[h->type])
			continue;
		v->state[h->type] = nr++ == LONERS_MAX || is_due(v, h->type) ? NO_VISITOR : VISITOR;
	}
}

void visits_find(struct work *w, const struct ties *l)
{
	struct visitors v = { .w = w, .l = l };

	v.state = mem_zalloc(w->g->types.nr + 1);
	for (uint32_t i = 0; i < w->units.nr; i++)
		see(&v, i);
	find_visitors(&v);
	vec_each (&w->units, u)
		u->is_visit =
			u->nr_held && v.state[u->type] == VISITOR && is_loner(&v, habit_of(&v, u));
	free(v.state);
	map_done(&v.pools);
	map_done(&v.threads);
	map_done(&v.at);
	map_done(&v.ahead);
	vec_done(&v.habits);
}
