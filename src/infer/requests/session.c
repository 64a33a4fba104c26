/*
 * Puts units of work together into sessions, one for each request. A unit joins the session of the
 * unit that it follows; it follows what nearly always is followed by it. What names a thing that is
 * one request by itself (an application, a job) belongs to that.
 */
#include "infer/requests/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	BATCH_MIN = 6,  /* names of one kind in one unit, without a common owner */
	DENSE_MIN = 4,  /* units that show how a thing lives */
	STRONG_MIN = 3, /* things of a kind, and statements on one */
};
#define FOLLOWS 0.7 /* a unit follows another one that is followed by such so surely */
#define SILENT_SHARE 0.35
#define SILENT_NS INT64_C(200000000)
#define STRONG_SHARE 0.1

struct sitting {
	struct work *w;
	const struct owners *o;
	const struct ties *l;
	bool *is_strong;   /* of each kind */
	struct map live;   /* thing: 1 + the session that named it last */
	struct map strong; /* strong thing: its session */
	uint32_t nr;
};

static struct held *held(struct work *w, const struct unit *u)
{
	return w->held.v + u->held_at;
}

/* Several things of one kind that nothing owns in common. */
static bool is_list(struct work *w, const struct unit *u, const struct owners *o)
{
	for (uint32_t i = 0; i < u->nr_held; i++) {
		uint32_t kind = w->g->kind_of.v[held(w, u)[i].thing];
		unsigned nr = 0;

		if (held(w, u)[i].depth || work_is_path(w, held(w, u)[i].thing) ||
		    names_str(&w->g->kinds, kind).p[0] == '#')
			continue;
		for (uint32_t k = 0; k < u->nr_held; k++)
			nr += !held(w, u)[k].depth && w->g->kind_of.v[held(w, u)[k].thing] == kind;
		if (nr >= BATCH_MIN)
			return true;
	}
	(void)o;
	return false;
}

void session_mark_lists(struct work *w, const struct owners *o)
{
	vec_each (&w->units, u)
		u->is_batch = is_list(w, u, o);
}

/* --- things that are requests by themselves ---------------------------------------------- */

struct life {
	int64_t start, end, silence;
	uint32_t nr, types, last_type;
};

static void live_on(struct life *l, const struct unit *u)
{
	if (!l->nr++) {
		l->start = u->start;
	} else if (u->start - l->end > l->silence) {
		l->silence = u->start - l->end;
	}
	l->end = u->end > l->end ? u->end : l->end;
	l->types += u->type != l->last_type;
	l->last_type = u->type;
}

/* Kinds of which nearly every one lives once, without a long silence: what happens to it in
 * between is one request. */
static void find_strong(struct sitting *s)
{
	struct work *w = s->w;
	size_t nr = w->g->things.nr + 1, nr_kinds = w->g->kinds.nr + 1;
	struct life *lives = mem_realloc(NULL, mem_bytes(nr, sizeof(*lives)));
	uint32_t *all = mem_realloc(NULL, mem_bytes(3 * nr_kinds, sizeof(*all)));
	uint32_t *silent = all + nr_kinds, *types = silent + nr_kinds;

	memset(lives, 0, nr * sizeof(*lives));
	memset(all, 0, 3 * nr_kinds * sizeof(*all));
	vec_each (&w->units, u)
		for (uint32_t i = 0; i < u->nr_held && !u->is_batch; i++)
			if (held(w, u)[i].depth < DEPTH_PREFIX)
				live_on(&lives[held(w, u)[i].thing], u);
	for (uint32_t i = 0; i < w->g->things.nr; i++) {
		uint32_t kind = w->g->kind_of.v[i];
		const struct life *l = &lives[i];
		double limit = SILENT_SHARE * (double)(l->end - l->start);

		if (l->nr < DENSE_MIN)
			continue;
		all[kind]++;
		silent[kind] += (double)l->silence > (limit > SILENT_NS ? limit : SILENT_NS);
		types[kind] = l->types > types[kind] ? l->types : types[kind];
	}
	for (size_t k = 0; k < nr_kinds; k++)
		s->is_strong[k] = all[k] >= STRONG_MIN && types[k] >= STRONG_MIN &&
				  silent[k] <= STRONG_SHARE * all[k];
	free(lives);
	free(all);
}

/* Compounds that begin with the same two numbers are one request: by these. */
static uint32_t strong_of(const struct sitting *s, uint32_t thing)
{
	struct str kind = names_str(&s->w->g->kinds, s->w->g->kind_of.v[thing]);
	struct str value = gather_value(s->w->g, thing);
	size_t at = str_find_char(kind, '#'), n;
	char text[300] = "#2\x1f";
	sym_t found;

	if (!at || at + 2 != kind.n || kind.p[at + 1] < '2' || value.n <= at)
		return thing;
	value = str_skip(value, at + 1);
	n = str_find_char(value, '_');
	n += n < value.n ? 1 + str_find_char(str_skip(value, n + 1), '_') : 0;
	if (n + 3 > sizeof(text))
		return thing;
	memcpy(text + 3, value.p, n);
	found = names_find(&s->w->g->things, (struct str){ text, n + 3 });
	return found ? found : thing;
}

static void name_strong(struct sitting *s)
{
	struct work *w = s->w;

	for (size_t i = 0; i < w->held.nr; i++)
		if (w->held.v[i].depth < DEPTH_PREFIX &&
		    s->is_strong[w->g->kind_of.v[w->held.v[i].thing]])
			*map_at(&s->strong, strong_of(s, w->held.v[i].thing)) = 0;
}

/* The strong things of a unit: how many, and the last of them. */
static unsigned strong_in(struct sitting *s, const struct unit *u, uint32_t *which)
{
	unsigned nr = 0;

	for (uint32_t i = 0; i < u->nr_held; i++) {
		struct held h = held(s->w, u)[i];
		uint32_t thing = strong_of(s, h.thing);

		if (h.depth >= DEPTH_PREFIX || !map_find(&s->strong, thing))
			continue;
		if (!nr || *which != thing)
			nr++;
		*which = thing;
	}
	return nr;
}

/* --- sessions ---------------------------------------------------------------------------- */

/* Whether several of the kind in one line make it a list of things: several numbers or addresses do
 * not. */
static bool is_listed(const struct work *w, uint32_t kind)
{
	struct str name = names_str(&w->g->kinds, kind);

	return name.p[0] != '#' && !str_ends(name, STR("=")) && !str_eq(name, STR("address")) &&
	       !str_starts(name, STR("mix:")) && !str_starts(name, STR("path"));
}

/* Things of one kind that different sessions have named: of several requests at once. */
static bool is_spread(struct sitting *s, const struct unit *u)
{
	struct work *w = s->w;

	for (uint32_t i = 0; i < u->nr_held; i++)
		for (uint32_t k = i + 1; k < u->nr_held; k++) {
			struct held a = held(w, u)[i], b = held(w, u)[k];
			const uint64_t *x, *y;

			if (a.depth || b.depth ||
			    w->g->kind_of.v[a.thing] != w->g->kind_of.v[b.thing] ||
			    !is_listed(w, w->g->kind_of.v[a.thing]))
				continue;
			x = map_find(&s->live, a.thing);
			y = map_find(&s->live, b.thing);
			if (x && y && *x != *y)
				return true;
		}
	return false;
}

/* How surely the unit follows such an earlier one: by the surest of their lines. */
static double follows(const struct sitting *s, const struct unit *u, const struct unit *earlier)
{
	double best = 0;

	for (uint32_t at = u->from; at < u->to; at++)
		for (uint32_t k = earlier->from; k < earlier->to; k++) {
			double share = ties_share(s->l, work_line(s->w, k)->type,
						  work_line(s->w, at)->type);

			best = share > best ? share : best;
		}
	return best;
}

static uint32_t parent_of(struct sitting *s, uint32_t unit, double *sure)
{
	struct work *w = s->w;
	const struct candidate *best = NULL;

	for (uint32_t i = s->l->at.v[unit]; i < s->l->at.v[unit + 1]; i++) {
		const struct candidate *c = &s->l->v.v[i];
		const struct unit *a = &w->units.v[c->unit];
		double share;

		if (a->is_batch || (best && (c->bits < best->bits ||
					     (c->bits == best->bits && c->unit < best->unit))))
			continue;
		share = follows(s, &w->units.v[unit], a);
		if (share < FOLLOWS)
			continue;
		best = c;
		*sure = share;
	}
	return best ? best->unit : NO_UNIT;
}

static void sit(struct sitting *s, uint32_t unit)
{
	struct work *w = s->w;
	struct unit *u = &w->units.v[unit];
	uint32_t strong = 0;
	unsigned nr_strong = strong_in(s, u, &strong);
	double sure = 1;

	u->is_batch = u->is_batch || nr_strong > 1 || is_spread(s, u);
	if (!u->is_batch)
		u->parent = parent_of(s, unit, &sure);
	if (nr_strong == 1 && !u->is_batch) {
		uint64_t *at = map_find(&s->strong, strong);

		if (!*at)
			*at = ++s->nr;
		u->session = (uint32_t)*at;
		if (u->parent != NO_UNIT && w->units.v[u->parent].session != u->session)
			u->parent = NO_UNIT;
	} else if (u->parent != NO_UNIT) {
		u->session = w->units.v[u->parent].session;
		u->sure = (float)sure;
	} else {
		u->session = ++s->nr;
	}
	for (uint32_t i = 0; i < u->nr_held && !u->is_batch; i++)
		if (!held(w, u)[i].depth)
			*map_at(&s->live, held(w, u)[i].thing) = u->session;
}

void session_find(struct work *w, const struct owners *o, const struct ties *l)
{
	struct sitting s = { .w = w, .o = o, .l = l };

	s.is_strong = mem_realloc(NULL, w->g->kinds.nr + 1);
	find_strong(&s);
	name_strong(&s);
	for (uint32_t i = 0; i < w->units.nr; i++)
		sit(&s, i);
	free(s.is_strong);
	map_done(&s.live);
	map_done(&s.strong);
}
