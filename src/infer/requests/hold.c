/*
 * What each unit of work names, and what owns it: a block belongs to one file, a container to one
 * application. Ownership is read off the units: whatever always appears with the same one of a
 * coarser kind belongs to it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/lists.h"
#include "base/mem.h"
#include "infer/requests/above.h"
#include "infer/requests/apart.h"
#include "infer/requests/hold.h"

enum {
	FAN_KIND_MIN = 20, /* values of a kind that a hub meets many of */
	FAN_MIN = 8,
	OWNED_MIN = 4, /* values that show who owns them */
	MANY_OF_KIND = 4,
	CALLERS_MIN = 2,   /* of a kind that are known to all */
	OWN_MAX = 512,     /* further names of one unit are left out */
	HELD_MAX = 1024,   /* and so is what owns them */
	MEET_MAX = 64,     /* a unit that names more shows nothing of who belongs to whom */
	PAIRS_A_LINE = 8,  /* so many pairs of names are remembered for each line */
	PAIRS_MIN = 65536, /* and these, however few lines there are */
};
#define FAN_SHARE 0.1
#define FAN_SHARED 0.3
#define OWNED_SHARE 0.95
#define COVERED 0.6
#define COARSER 0.97
#define SEVERAL UINT32_MAX

/* The things that a unit names itself, of those that tell work apart. */
struct own_names {
	VEC(uint32_t) v;
	uint32_t *taken;   /* of each thing: the round in which it was taken last */
	uint32_t *of_kind; /* of each kind: how many are taken */
	uint32_t round;
	bool is_full; /* there were more */
};

static struct own_names own_begin(const struct work *w)
{
	return (struct own_names){ .taken = work_counts(w->g->things.nr),
				   .of_kind = work_counts(w->g->kinds.nr) };
}

static void own_end(struct own_names *own)
{
	vec_done(&own->v);
	free(own->taken);
	free(own->of_kind);
}

static void own_of(const struct work *w, const struct unit *u, struct own_names *own)
{
	vec_each (&own->v, thing)
		own->of_kind[w->g->kind_of.v[*thing]] = 0;
	vec_clear(&own->v);
	own->round++;
	own->is_full = false;
	for (uint32_t at = u->from; at < u->to && !own->is_full; at++) {
		const struct seen_line *l = work_line(w, at);

		for (unsigned i = 0; i < l->nr_names; i++) {
			uint32_t thing = line_names(w, l)[i];

			if (own->taken[thing] == own->round || !work_can_tell(w, thing))
				continue;
			own->is_full |= own->v.nr == OWN_MAX;
			if (own->is_full)
				break;
			own->taken[thing] = own->round;
			own->of_kind[w->g->kind_of.v[thing]]++;
			vec_push(&own->v, thing);
		}
	}
}

/* Whether the same was not named together before: then nothing is to be learned from it. */
static bool is_news(struct lists *seen, const struct own_names *own)
{
	uint32_t nr = seen->nr;

	return own->v.nr > 1 && own->v.nr <= MEET_MAX && lists_add(seen, own->v.v, own->v.nr) == nr;
}

/* Memory grows with the lines, not with the square of what they name. */
static bool has_room(const struct work *w, const struct beside *pairs)
{
	return pairs->nr < PAIRS_A_LINE * w->g->lines.nr + PAIRS_MIN;
}

static bool is_numbers_alone(const struct work *w, uint32_t kind)
{
	return w->looks[kind].is_numbers;
}

bool hold_same_stem(const struct work *w, uint32_t a, uint32_t b)
{
	return w->looks[a].stem && w->looks[a].stem == w->looks[b].stem;
}

/* Which things met how many of which kind, told by distinct pairs. */
struct meetings {
	struct beside pairs; /* two things: seen */
	struct beside nr;    /* thing and kind: how many of that kind it met */
	uint32_t *nr_values; /* of each kind */
};

static void note_pair(const struct work *w, struct meetings *m, uint32_t a, uint32_t b)
{
	uint32_t *is_seen;

	if (!has_room(w, &m->pairs))
		return;
	is_seen = beside_at(&m->pairs, a, b);
	if (*is_seen)
		return;
	*is_seen = true;
	(*beside_at(&m->nr, a, w->g->kind_of.v[b]))++;
}

static void note_unit(const struct work *w, struct meetings *m, const struct own_names *own)
{
	for (size_t i = 0; i < own->v.nr; i++) {
		uint32_t a = own->v.v[i], ka = w->g->kind_of.v[a];

		if (is_numbers_alone(w, ka) || own->of_kind[ka] > 2)
			continue;
		for (size_t k = 0; k < own->v.nr; k++) {
			uint32_t b = own->v.v[k], kb = w->g->kind_of.v[b];

			if (ka != kb && !is_numbers_alone(w, kb) && !hold_same_stem(w, ka, kb) &&
			    own->of_kind[kb] <= MANY_OF_KIND)
				note_pair(w, m, a, b);
		}
	}
}

static int64_t life_of(const struct work *w, uint32_t thing)
{
	return w->last[thing] - w->first[thing];
}

static bool is_of_family(const struct work *w, uint32_t thing)
{
	uint32_t numbers = work_numbers(w, thing);

	return w->root[thing] || w->is_family[thing] || (numbers && w->is_family[numbers]);
}

/* A thing is a hub that outlives a good part of another kind, whose members meet others like it
 * too. */
static void mark_hubs(struct work *w, struct meetings *m)
{
	struct beside shared = { 0 }; /* thing and kind: how many of those met have met others */
	struct beside_cursor c = { 0 };
	struct beside_pair p;

	while (beside_next(&m->pairs, &c, &p)) {
		const uint32_t *back = beside_find(&m->nr, p.other, w->g->kind_of.v[p.thing]);

		if (back && *back > 1 && 2 * life_of(w, p.other) < life_of(w, p.thing))
			(*beside_at(&shared, p.thing, w->g->kind_of.v[p.other]))++;
	}
	c = (struct beside_cursor){ 0 };
	while (beside_next(&shared, &c, &p)) {
		double of = m->nr_values[p.other], met = *beside_find(&m->nr, p.thing, p.other);

		if (of >= FAN_KIND_MIN && met >= FAN_MIN && met >= FAN_SHARE * of &&
		    m->nr_values[w->g->kind_of.v[p.thing]] < of && p.value > FAN_SHARED * met &&
		    !is_of_family(w, p.thing))
			w->is_hub[p.thing] = true;
	}
	beside_done(&shared);
}

/* The numbers of a hub, alone, are a hub as well. */
static void mark_numbers(struct work *w)
{
	for (uint32_t i = 1; i < w->g->things.nr; i++) {
		uint32_t numbers = w->is_hub[i] ? work_numbers(w, i) : 0;

		if (numbers && !w->is_family[numbers])
			w->is_hub[numbers] = true;
	}
}

void weigh_units(struct work *w)
{
	struct meetings m = { 0 };
	struct lists seen = { 0 };
	struct own_names own = own_begin(w);

	m.nr_values = work_counts(w->g->kinds.nr);
	for (uint32_t i = 0; i < w->g->things.nr; i++)
		m.nr_values[w->g->kind_of.v[i]] += w->seen[i] && work_can_tell(w, i);
	vec_each (&w->units, u) {
		own_of(w, u, &own);
		if (is_news(&seen, &own))
			note_unit(w, &m, &own);
	}
	lists_done(&seen);
	mark_hubs(w, &m);
	mark_numbers(w);
	free(m.nr_values);
	beside_done(&m.pairs);
	w->met = m.nr;
	own_end(&own);
}

/* --- owners ------------------------------------------------------------------------------ */

struct asked { /* two kinds */
	uint64_t values, single;
	uint64_t owners; /* values of the coarser kind */
};

static void note_owner(const struct work *w, struct beside *of, const struct own_names *own)
{
	for (size_t i = 0; i < own->v.nr; i++) {
		uint32_t a = own->v.v[i], ka = w->g->kind_of.v[a];

		if (own->of_kind[ka] != 1)
			continue;
		for (size_t k = 0; k < own->v.nr; k++) {
			uint32_t b = own->v.v[k], kb = w->g->kind_of.v[b];
			uint32_t *at;

			if (ka == kb || own->of_kind[kb] != 1)
				continue;
			if (!has_room(w, of) && !beside_find(of, a, kb))
				continue;
			at = beside_at(of, a, kb);
			*at = !*at || *at == b + 1u ? b + 1u : SEVERAL;
		}
	}
}

/* What one line names together surely belongs together; what only several lines of a unit do is
 * taken where no line says anything: units may have been cut wrongly. */
static void note_owners(const struct work *w, struct owners *o, struct own_names *own)
{
	struct beside of = { 0 }; /* as units say */
	struct beside_cursor c = { 0 };
	struct beside_pair p;
	struct lists lines = { 0 }, units = { 0 };

	vec_each (&w->units, u) {
		struct unit line = *u;

		for (uint32_t at = u->from; at < u->to; at++) {
			line.from = at;
			line.to = at + 1;
			own_of(w, &line, own);
			if (is_news(&lines, own))
				note_owner(w, &o->of, own);
		}
		if (u->to - u->from == 1)
			continue;
		own_of(w, u, own);
		if (is_news(&units, own))
			note_owner(w, &of, own);
	}
	lists_done(&lines);
	lists_done(&units);
	while (beside_next(&of, &c, &p))
		if (has_room(w, &o->of) && !beside_find(&o->of, p.thing, p.other))
			*beside_at(&o->of, p.thing, p.other) = p.value;
	beside_done(&of);
}

struct asking {
	VEC(struct asked) v;
	VEC(uint64_t) pairs; /* of kinds */
	struct map at;       /* two kinds: 1 + where */
	struct map owners;   /* which of these, and an owner */
};

static void ask(const struct work *w, struct asking *q, const struct beside_pair *of)
{
	uint64_t key = map_pair(w->g->kind_of.v[of->thing], of->other);
	uint64_t *at = map_at(&q->at, key);
	struct asked *a;

	if (!*at) {
		vec_push(&q->v, (struct asked){ 0 });
		vec_push(&q->pairs, key);
		*at = q->v.nr;
	}
	a = &q->v.v[*at - 1];
	a->values++;
	if (of->value == SEVERAL)
		return;
	a->single++;
	a->owners += !(*map_at(&q->owners, map_pair((uint32_t)*at, of->value)))++;
}

static void decide(const struct work *w, struct owners *o)
{
	struct asking q = { 0 };
	uint32_t *nr_values = work_counts(w->g->kinds.nr);
	struct beside_cursor c = { 0 };
	struct beside_pair p;

	for (uint32_t i = 0; i < w->g->things.nr; i++)
		nr_values[w->g->kind_of.v[i]] += w->seen[i] && work_can_tell(w, i);
	while (beside_next(&o->of, &c, &p))
		ask(w, &q, &p);
	for (size_t i = 0; i < q.v.nr; i++) {
		uint32_t fine = (uint32_t)(q.pairs.v[i] >> 32);
		double nr = (double)q.v.v[i].values, coarse = (double)q.v.v[i].owners;

		if (nr >= OWNED_MIN && (double)q.v.v[i].single >= OWNED_SHARE * nr &&
		    nr >= COVERED * nr_values[fine] && coarse >= 2 && coarse <= COARSER * nr) {
			*map_at(&o->kinds, q.pairs.v[i]) = 1;
			vec_push(&o->pairs, q.pairs.v[i]);
		}
	}
	vec_done(&q.v);
	vec_done(&q.pairs);
	map_done(&q.at);
	map_done(&q.owners);
	free(nr_values);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

bool hold_is_owner(const struct owners *o, uint32_t fine, uint32_t coarse)
{
	return map_find(&o->kinds, map_pair(fine, coarse));
}

uint32_t hold_owner_of(const struct owners *o, uint32_t thing, uint32_t kind)
{
	const uint32_t *of = beside_find(&o->of, thing, kind);

	return of && *of != SEVERAL ? *of - 1 : 0;
}

/* Where the owners of a kind begin among the pairs. */
size_t hold_owners_at(const struct owners *o, uint32_t fine)
{
	size_t from = 0, to = o->pairs.nr;

	while (from < to) {
		size_t mid = (from + to) / 2;

		if (o->pairs.v[mid] >> 32 < fine)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

static void add_held(struct work *w, struct own_names *own, struct unit *u, uint32_t thing,
		     unsigned depth)
{
	if (own->taken[thing] == own->round)
		return;
	u->is_full |= u->nr_held >= HELD_MAX;
	if (u->nr_held >= HELD_MAX)
		return;
	own->taken[thing] = own->round;
	vec_push(&w->held, (struct held){ thing, (uint8_t)depth });
	u->nr_held++;
}

/* What owns the things that are held, and what owns that. */
static void add_owners(struct work *w, struct above *above, struct own_names *own, struct unit *u)
{
	for (uint32_t i = 0; i < u->nr_held; i++) {
		struct held h = w->held.v[u->held_at + i];
		const uint32_t *owners;
		uint32_t nr;

		if (h.depth >= DEPTH_PREFIX - 1)
			continue;
		owners = above_owners(above, h.thing, &nr);
		for (uint32_t k = 0; k < nr; k++)
			if (!own->of_kind[w->g->kind_of.v[owners[k]]])
				add_held(w, own, u, owners[k], h.depth + 1u);
	}
}

/* A path that is first named beside one other of its kind is that under a new name. */
static void note_renaming(const struct work *w, struct owners *o, const struct unit *u,
			  const struct own_names *own)
{
	uint32_t paths[2];
	unsigned nr = 0;

	for (size_t i = 0; i < own->v.nr; i++)
		if (work_is_path(w, own->v.v[i]) && nr++ < 2)
			paths[nr - 1] = own->v.v[i];
	if (nr != 2 || w->g->kind_of.v[paths[0]] != w->g->kind_of.v[paths[1]] ||
	    w->first[paths[0]] >= u->start)
		return;
	if (w->first[paths[1]] >= u->start)
		*map_at(&o->renamed, paths[0]) = paths[1];
	else if (map_find(&o->renamed, paths[1]) && *map_find(&o->renamed, paths[1]) == paths[0])
		*map_at(&o->renamed, paths[1]) = paths[1];
}

/* What belongs to a path belongs to it under its new name as well. */
static void add_renamed(struct work *w, const struct owners *o, struct own_names *own,
			struct unit *u)
{
	for (uint32_t i = 0; i < u->nr_held; i++) {
		struct held h = w->held.v[u->held_at + i];
		const uint64_t *to =
			h.depth && h.depth < DEPTH_PREFIX - 1 && work_is_path(w, h.thing)
				? map_find(&o->renamed, h.thing)
				: NULL;

		if (to && *to != h.thing)
			add_held(w, own, u, (uint32_t)*to, h.depth + 1u);
	}
}

/* Folders above the paths, as far as something names them. */
static void add_folders(struct work *w, struct above *above, struct own_names *own, struct unit *u)
{
	uint32_t nr = u->nr_held, nr_folders;

	for (uint32_t i = 0; i < nr; i++) {
		struct held h = w->held.v[u->held_at + i];
		const uint32_t *folders;

		if (!work_is_path(w, h.thing))
			continue;
		folders = above_folders(above, h.thing, &nr_folders);
		for (uint32_t k = 0; k < nr_folders; k++)
			add_held(w, own, u, folders[k], h.depth + DEPTH_PREFIX);
	}
}

/* Whether something that is no compound owns such things: they are parts of it. */
static bool is_part(const struct work *w, const struct owners *o, uint32_t kind)
{
	for (size_t i = hold_owners_at(o, kind); i < o->pairs.nr && o->pairs.v[i] >> 32 == kind;
	     i++)
		if (!w->looks[(uint32_t)o->pairs.v[i]].stem)
			return true;
	return false;
}

/* Most clients may deal with one file each, and look like parts of it; but parts of anything are
 * never known to all, as clients are that stay. */
static void find_callers(const struct work *w, struct owners *o)
{
	uint32_t *hubs = work_counts(w->g->kinds.nr);

	o->caller = mem_zalloc((size_t)w->g->kinds.nr + 1);
	for (uint32_t i = 1; i < w->g->things.nr; i++)
		hubs[w->g->kind_of.v[i]] += w->seen[i] && w->is_hub[i];
	for (uint32_t kind = 0; kind < w->g->kinds.nr; kind++)
		if (w->looks[kind].stem && !w->looks[kind].is_numbers)
			o->caller[kind] = hubs[kind] >= CALLERS_MIN ? CALLER_SURE
					  : is_part(w, o, kind)     ? CALLER_NONE
								    : CALLER_MAYBE;
	free(hubs);
}

void find_owners(struct work *w, struct owners *o)
{
	struct own_names own = own_begin(w);
	struct above above;

	*o = (struct owners){ 0 };
	note_owners(w, o, &own);
	decide(w, o);
	if (o->pairs.nr)
		qsort(o->pairs.v, o->pairs.nr, sizeof(*o->pairs.v), by_value);
	find_callers(w, o);
	apart_cut(w, o);
	above_begin(&above, w, o);
	vec_each (&w->units, u) {
		own_of(w, u, &own);
		note_renaming(w, o, u, &own);
		u->held_at = (uint32_t)w->held.nr;
		u->nr_held = (uint32_t)own.v.nr;
		u->is_full = own.is_full;
		vec_each (&own.v, thing)
			vec_push(&w->held, (struct held){ *thing, 0 });
		add_owners(w, &above, &own, u);
		add_renamed(w, o, &own, u);
		add_folders(w, &above, &own, u);
	}
	above_done(&above);
	own_end(&own);
}

void owners_done(struct owners *o)
{
	beside_done(&o->of);
	map_done(&o->renamed);
	map_done(&o->kinds);
	vec_done(&o->pairs);
	free(o->caller);
}
