/*
 * A piece of work that waits has a line before and a line after what is done for it meanwhile.
 * Units of one sort that are nearly always done while work of another sort waits behind one of its
 * statements, in the same log, are done for it; if they name things, one that this work names as
 * well. It is no habit unless it holds the other way round too: such work hardly ever waits there
 * without them. Where two such pieces wait at the same time nothing is decided. One pass to learn
 * and one to join, over the units and what goes on around each.
 */
#include "infer/requests/within.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	SEEN_MIN = 8,
	GOING_MAX = 64,      /* pieces of work in one log that are looked at */
	LINES_MAX = 64,      /* of each */
	PAIRS_MAX = 1 << 20, /* of statements that are counted */
};
#define NEARLY_ALWAYS 0.9

/* Units that go on in a log, the last one begun last. */
struct going {
	VEC(uint32_t) v;
};

struct pair {
	uint32_t nr;     /* units of the second sort during which the first waits */
	uint32_t around; /* units that wait behind the first for some of the second */
	int64_t delay;   /* from the first to the second, in all, ns */
};

struct finder {
	struct work *w;
	struct going *going; /* of each log */
	uint32_t *alone;     /* of each session: its units */
	uint32_t *nr;        /* of each type: units to be explained */
	uint32_t *nr_shared; /* of these: within one that names the same */
	uint32_t *nr_with;   /* of each type: units that may be around others with it */
	uint32_t *best;      /* of each type: 1 + the statement behind which is waited for it */
	struct map at;       /* two types: 1 + where in pairs */
	struct map counted;  /* first line of the statement around, and type within */
	VEC(struct pair) pairs;
};

static bool is_asking(const struct finder *f, const struct unit *u)
{
	return !u->is_batch && !u->is_undated && !u->family && u->parent == NO_UNIT && u->session &&
	       f->alone[u->session] == 1;
}

static bool can_wait(const struct unit *u)
{
	return u->to - u->from > 1 && u->end > u->start && !u->is_batch && !u->is_undated;
}

static bool shares(const struct work *w, const struct unit *a, const struct unit *u)
{
	for (uint32_t i = 0; i < u->nr_held; i++)
		for (uint32_t k = 0; k < a->nr_held; k++)
			if (!w->held.v[u->held_at + i].depth && !w->held.v[a->held_at + k].depth &&
			    w->held.v[u->held_at + i].thing == w->held.v[a->held_at + k].thing)
				return true;
	return false;
}

/* Whether the unit may be done for the one that goes on. */
static bool can_be_for(const struct work *w, const struct unit *a, const struct unit *u)
{
	return a->start <= u->start && a->end >= u->end && (!u->nr_held || shares(w, a, u));
}

/* Whether the work waits behind this line of it at the time. */
static bool waits_at(const struct work *w, const struct unit *a, uint32_t at, int64_t ns)
{
	return work_line(w, at)->ns <= ns && (at + 1 == a->to || work_line(w, at + 1)->ns >= ns);
}

static bool waits_behind(const struct work *w, const struct unit *a, uint32_t type, int64_t ns)
{
	for (uint32_t at = a->from; at < a->to && at - a->from < LINES_MAX; at++)
		if (work_line(w, at)->type == type && waits_at(w, a, at, ns))
			return true;
	return false;
}

/* Where the statement stands first in the unit. */
static uint32_t first_of(const struct work *w, const struct unit *a, uint32_t type)
{
	uint32_t at = a->from;

	while (work_line(w, at)->type != type)
		at++;
	return at;
}

static void count_pair(struct finder *f, const struct seen_line *before, const struct seen_line *l,
		       bool is_first, bool is_asked)
{
	uint64_t key = map_pair(before->type, l->type), *at;
	struct pair *p;

	if (f->at.nr >= PAIRS_MAX && !map_find(&f->at, key))
		return;
	at = map_at(&f->at, key);
	if (!*at) {
		vec_push(&f->pairs, (struct pair){ 0 });
		*at = f->pairs.nr;
	}
	p = &f->pairs.v[*at - 1];
	p->around += is_first;
	p->nr += is_asked;
	if (is_asked && __builtin_add_overflow(p->delay, l->ns - before->ns, &p->delay))
		p->delay = INT64_MAX;
}

/* Whether another one that goes on waits likewise: a unit within counts once. */
static bool is_repeated(const struct finder *f, const struct going *g, size_t from, uint32_t type,
			const struct unit *u)
{
	for (size_t i = from; i < g->v.nr; i++) {
		const struct unit *a = &f->w->units.v[g->v.v[i]];

		if (can_be_for(f->w, a, u) && waits_behind(f->w, a, type, u->start))
			return true;
	}
	return false;
}

static void learn_line(struct finder *f, const struct going *g, size_t i, const struct unit *u,
		       const struct seen_line *l)
{
	const struct work *w = f->w;
	const struct unit *a = &w->units.v[g->v.v[i]];
	bool is_asked = l == work_line(w, u->from) && is_asking(f, u);

	for (uint32_t at = a->from; at < a->to && at - a->from < LINES_MAX; at++) {
		const struct seen_line *before = work_line(w, at);
		uint64_t *counted;

		/* of lines of one statement in a row the last one waits */
		if (!waits_at(w, a, at, l->ns) ||
		    (at + 1 < a->to && work_line(w, at + 1)->type == before->type &&
		     waits_at(w, a, at + 1, l->ns)))
			continue;
		counted = map_at(&f->counted, map_pair(first_of(w, a, before->type), l->type));
		count_pair(f, before, l, !*counted,
			   is_asked && !is_repeated(f, g, i + 1, before->type, u));
		*counted = 1;
	}
}

static void learn(struct finder *f, const struct going *g, uint32_t unit)
{
	const struct work *w = f->w;
	const struct unit *u = &w->units.v[unit];
	bool is_shared = false;

	for (size_t i = 0; i < g->v.nr; i++) {
		if (!can_be_for(w, &w->units.v[g->v.v[i]], u))
			continue;
		is_shared |= u->nr_held > 0;
		for (uint32_t at = u->from; at < u->to && at - u->from < LINES_MAX; at++)
			if (f->nr[work_line(w, at)->type] >= SEEN_MIN)
				learn_line(f, g, i, u, work_line(w, at));
	}
	f->nr_shared[u->type] += is_shared && is_asking(f, u);
}

/* Of the statements behind which is always waited for a sort of units, and never without, the
 * nearest. */
static void decide(struct finder *f)
{
	int64_t *delay = mem_zalloc(mem_bytes(f->w->g->types.nr + 1, sizeof(*delay)));

	for (const struct map_slot *s = NULL; (s = map_next(&f->at, s));) {
		uint32_t first = (uint32_t)(s->key >> 32), next = (uint32_t)s->key;
		const struct pair *p = &f->pairs.v[s->value - 1];
		int64_t mean = p->nr ? p->delay / p->nr : 0;

		if (p->nr < SEEN_MIN || p->around < SEEN_MIN ||
		    p->nr < NEARLY_ALWAYS * f->nr[next] ||
		    p->around < NEARLY_ALWAYS * f->nr_with[first])
			continue;
		if (f->best[next] &&
		    (mean > delay[next] || (mean == delay[next] && first + 1 > f->best[next])))
			continue;
		f->best[next] = first + 1;
		delay[next] = mean;
	}
	free(delay);
}

static bool is_habit(const struct finder *f, const struct unit *u)
{
	return f->best[u->type] || (u->nr_held && f->nr_shared[u->type] >= SEEN_MIN &&
				    f->nr_shared[u->type] >= NEARLY_ALWAYS * f->nr[u->type]);
}

static void join(struct finder *f, const struct going *g, uint32_t unit)
{
	struct work *w = f->w;
	struct unit *u = &w->units.v[unit];
	uint32_t found = NO_UNIT, nr = 0;

	if (!is_asking(f, u) || !is_habit(f, u))
		return;
	for (size_t i = 0; i < g->v.nr; i++) {
		const struct unit *a = &w->units.v[g->v.v[i]];

		if (!can_be_for(w, a, u) ||
		    (f->best[u->type] && !waits_behind(w, a, f->best[u->type] - 1, u->start)))
			continue;
		found = g->v.v[i];
		nr++;
	}
	if (nr != 1)
		return;
	u->parent = found;
	u->session = w->units.v[found].session;
	u->why = WHY_WITHIN;
	u->is_served = false;
}

/* Takes all units in order, with what goes on when each begins. */
static void walk(struct finder *f,
		 void (*each)(struct finder *f, const struct going *g, uint32_t unit))
{
	const struct work *w = f->w;

	for (uint32_t i = 0; i < w->units.nr; i++) {
		const struct unit *u = &w->units.v[i];
		struct going *g = &f->going[work_line(w, u->from)->file];
		size_t kept = 0;

		for (size_t k = 0; k < g->v.nr; k++)
			if (w->units.v[g->v.v[k]].end >= u->start)
				g->v.v[kept++] = g->v.v[k];
		g->v.nr = kept;
		each(f, g, i);
		if (!can_wait(u))
			continue;
		if (g->v.nr == GOING_MAX) {
			memmove(g->v.v, g->v.v + 1, (GOING_MAX - 1) * sizeof(*g->v.v));
			g->v.nr--;
		}
		vec_push(&g->v, i);
	}
	for (uint32_t i = 0; i <= w->g->logs.nr; i++)
		vec_clear(&f->going[i].v);
}

static void count_units(struct finder *f)
{
	const struct work *w = f->w;

	vec_each (&w->units, u) {
		f->alone[u->session]++;
		for (uint32_t at = u->from; at < u->to && at - u->from < LINES_MAX && can_wait(u);
		     at++)
			f->nr_with[work_line(w, at)->type] +=
				first_of(w, u, work_line(w, at)->type) == at;
	}
	vec_each (&w->units, u)
		f->nr[u->type] += is_asking(f, u);
}

void within_find(struct work *w)
{
	struct finder f = { .w = w };
	size_t nr_types = w->g->types.nr + 1;
	uint32_t nr_sessions = 0;

	vec_each (&w->units, u)
		nr_sessions = u->session > nr_sessions ? u->session : nr_sessions;
	f.alone = mem_zalloc(mem_bytes((size_t)nr_sessions + 1, sizeof(*f.alone)));
	f.going = mem_zalloc(mem_bytes(w->g->logs.nr + 1, sizeof(*f.going)));
	f.nr = mem_zalloc(mem_bytes(4 * nr_types, sizeof(*f.nr)));
	f.nr_shared = f.nr + nr_types;
	f.nr_with = f.nr_shared + nr_types;
	f.best = f.nr_with + nr_types;
	count_units(&f);
	walk(&f, learn);
	decide(&f);
	walk(&f, join);
	for (uint32_t i = 0; i <= w->g->logs.nr; i++)
		vec_done(&f.going[i].v);
	free(f.going);
	free(f.alone);
	free(f.nr);
	map_done(&f.at);
	map_done(&f.counted);
	vec_done(&f.pairs);
}
