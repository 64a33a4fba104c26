/*
 * What each unit of work names, and what owns it: a block belongs to one file, a container to one
 * application. Ownership is read off the units: whatever always appears with the same one of a
 * coarser kind belongs to it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "infer/requests/hold.h"

enum {
	FAN_KIND_MIN = 20, /* values of a kind that a hub meets many of */
	FAN_MIN = 8,
	OWNED_MIN = 4, /* values that show who owns them */
	MANY_OF_KIND = 4,
};
#define FAN_SHARE 0.1
#define FAN_SHARED 0.3
#define OWNED_SHARE 0.95
#define COVERED 0.6
#define COARSER 0.97
#define SEVERAL UINT64_MAX

struct met_kind { /* a thing and another kind */
	uint32_t thing, kind;
};

/* The things that a unit names itself, of those that tell work apart. */
struct own_names {
	VEC(uint32_t) v;
};

static bool can_tell(const struct work *w, uint32_t thing)
{
	return !w->is_hub[thing] && !w->is_measure[w->g->kind_of.v[thing]];
}

static void own_of(const struct work *w, const struct unit *u, struct own_names *own)
{
	vec_clear(&own->v);
	for (uint32_t at = u->from; at < u->to; at++) {
		const struct seen_line *l = work_line(w, at);

		for (unsigned i = 0; i < l->nr_names; i++) {
			uint32_t thing = line_names(w, l)[i];
			bool is_new = can_tell(w, thing);

			for (size_t k = 0; k < own->v.nr && is_new; k++)
				is_new = own->v.v[k] != thing;
			if (is_new)
				vec_push(&own->v, thing);
		}
	}
}

static unsigned nr_of_kind(const struct work *w, const struct own_names *own, uint32_t kind)
{
	unsigned nr = 0;

	for (size_t i = 0; i < own->v.nr; i++)
		nr += w->g->kind_of.v[own->v.v[i]] == kind;
	return nr;
}

static bool is_numbers_alone(const struct work *w, uint32_t kind)
{
	return names_str(&w->g->kinds, kind).p[0] == '#';
}

bool hold_same_stem(const struct work *w, uint32_t a, uint32_t b)
{
	struct str x = names_str(&w->g->kinds, a), y = names_str(&w->g->kinds, b);
	size_t n = str_find_char(x, '#');

	return n < x.n && n == str_find_char(y, '#') && str_eq(str_head(x, n), str_head(y, n));
}

/* Which things met how many of which kind, told by distinct pairs. */
struct meetings {
	struct map pairs;    /* two things: seen */
	struct map nr;       /* thing and kind: how many of that kind it met */
	VEC(uint64_t) met;   /* the pairs */
	uint32_t *nr_values; /* of each kind */
};

static void note_pair(const struct work *w, struct meetings *m, uint32_t a, uint32_t b)
{
	uint64_t *seen = map_at(&m->pairs, map_pair(a, b));

	if (*seen)
		return;
	*seen = 1;
	(*map_at(&m->nr, map_pair(a, w->g->kind_of.v[b])))++;
	vec_push(&m->met, map_pair(a, b));
}

static void note_unit(const struct work *w, struct meetings *m, const struct own_names *own)
{
	for (size_t i = 0; i < own->v.nr; i++) {
		uint32_t a = own->v.v[i], ka = w->g->kind_of.v[a];

		if (is_numbers_alone(w, ka) || nr_of_kind(w, own, ka) > 2)
			continue;
		for (size_t k = 0; k < own->v.nr; k++) {
			uint32_t b = own->v.v[k], kb = w->g->kind_of.v[b];

			if (ka != kb && !is_numbers_alone(w, kb) && !hold_same_stem(w, ka, kb) &&
			    nr_of_kind(w, own, kb) <= MANY_OF_KIND)
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
	struct map shared = { 0 }; /* thing and kind: how many of those met have met others */

	vec_each (&m->met, pair) {
		uint32_t a = (uint32_t)(*pair >> 32), b = (uint32_t)*pair;
		const uint64_t *back = map_find(&m->nr, map_pair(b, w->g->kind_of.v[a]));

		if (back && *back > 1 && 2 * life_of(w, b) < life_of(w, a))
			(*map_at(&shared, map_pair(a, w->g->kind_of.v[b])))++;
	}
	for (const struct map_slot *s = NULL; (s = map_next(&shared, s));) {
		uint32_t thing = (uint32_t)(s->key >> 32), kind = (uint32_t)s->key;
		double of = m->nr_values[kind], met = (double)*map_find(&m->nr, s->key);

		if (of >= FAN_KIND_MIN && met >= FAN_MIN && met >= FAN_SHARE * of &&
		    m->nr_values[w->g->kind_of.v[thing]] < of &&
		    (double)s->value > FAN_SHARED * met && !is_of_family(w, thing))
			w->is_hub[thing] = true;
	}
	map_done(&shared);
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
	struct own_names own = { 0 };

	m.nr_values = mem_realloc(NULL, mem_bytes(w->g->kinds.nr + 1, sizeof(*m.nr_values)));
	memset(m.nr_values, 0, (w->g->kinds.nr + 1) * sizeof(*m.nr_values));
	for (uint32_t i = 0; i < w->g->things.nr; i++)
		m.nr_values[w->g->kind_of.v[i]] += w->seen[i] && can_tell(w, i);
	vec_each (&w->units, u) {
		own_of(w, u, &own);
		note_unit(w, &m, &own);
	}
	mark_hubs(w, &m);
	mark_numbers(w);
	free(m.nr_values);
	vec_done(&m.met);
	map_done(&m.pairs);
	map_done(&m.nr);
	vec_done(&own.v);
}

/* --- owners ------------------------------------------------------------------------------ */

struct asked { /* two kinds */
	uint64_t values, single;
	struct map owners; /* values of the coarser kind */
};

static void note_owner(const struct work *w, struct owners *o, const struct own_names *own)
{
	for (size_t i = 0; i < own->v.nr; i++) {
		uint32_t a = own->v.v[i], ka = w->g->kind_of.v[a];

		if (nr_of_kind(w, own, ka) != 1)
			continue;
		for (size_t k = 0; k < own->v.nr; k++) {
			uint32_t b = own->v.v[k], kb = w->g->kind_of.v[b];
			uint64_t *at;

			if (ka == kb || nr_of_kind(w, own, kb) != 1)
				continue;
			at = map_at(&o->of, map_pair(a, kb));
			*at = !*at || *at == b + 1u ? b + 1u : SEVERAL;
		}
	}
}

static void decide(const struct work *w, struct owners *o)
{
	struct map asked = { 0 };
	VEC(struct asked) v = { 0 };
	VEC(uint64_t) pairs = { 0 };
	uint32_t *nr_values = mem_realloc(NULL, mem_bytes(w->g->kinds.nr + 1, sizeof(*nr_values)));

	memset(nr_values, 0, (w->g->kinds.nr + 1) * sizeof(*nr_values));
	for (uint32_t i = 0; i < w->g->things.nr; i++)
		nr_values[w->g->kind_of.v[i]] += w->seen[i] && can_tell(w, i);
	for (const struct map_slot *s = NULL; (s = map_next(&o->of, s));) {
		uint64_t key = map_pair(w->g->kind_of.v[s->key >> 32], (uint32_t)s->key);
		uint64_t *at = map_at(&asked, key);

		if (!*at) {
			vec_push(&v, (struct asked){ 0 });
			vec_push(&pairs, key);
			*at = v.nr;
		}
		v.v[*at - 1].values++;
		v.v[*at - 1].single += s->value != SEVERAL;
		if (s->value != SEVERAL)
			(*map_at(&v.v[*at - 1].owners, s->value))++;
	}
	for (size_t i = 0; i < v.nr; i++) {
		uint32_t fine = (uint32_t)(pairs.v[i] >> 32);
		double nr = (double)v.v[i].values, coarse = (double)v.v[i].owners.nr;

		if (nr >= OWNED_MIN && (double)v.v[i].single >= OWNED_SHARE * nr &&
		    nr >= COVERED * nr_values[fine] && coarse >= 2 && coarse <= COARSER * nr) {
			*map_at(&o->kinds, pairs.v[i]) = 1;
			vec_push(&o->pairs, pairs.v[i]);
		}
		map_done(&v.v[i].owners);
	}
	vec_done(&v);
	vec_done(&pairs);
	map_done(&asked);
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

static bool has_kind(const struct work *w, const struct held *v, size_t nr, uint32_t kind)
{
	for (size_t i = 0; i < nr; i++)
		if (!v[i].depth && w->g->kind_of.v[v[i].thing] == kind)
			return true;
	return false;
}

static void add_held(struct work *w, struct unit *u, uint32_t thing, unsigned depth)
{
	for (uint32_t i = 0; i < u->nr_held; i++)
		if (w->held.v[u->held_at + i].thing == thing)
			return;
	vec_push(&w->held, (struct held){ thing, (uint8_t)depth });
	u->nr_held++;
}

/* What owns the things that are held, and what owns that. */
static void add_owners(struct work *w, const struct owners *o, struct unit *u)
{
	for (uint32_t i = 0; i < u->nr_held; i++) {
		struct held h = w->held.v[u->held_at + i];

		for (size_t k = 0; k < o->pairs.nr && h.depth < DEPTH_PREFIX - 1; k++) {
			const uint64_t *of;
			uint32_t kind = (uint32_t)o->pairs.v[k];

			if (o->pairs.v[k] >> 32 != w->g->kind_of.v[h.thing] ||
			    has_kind(w, &w->held.v[u->held_at], u->nr_held, kind))
				continue;
			of = map_find(&o->of, map_pair(h.thing, kind));
			if (of && *of != SEVERAL)
				add_held(w, u, (uint32_t)*of - 1, h.depth + 1u);
		}
	}
}

/* Folders above the paths, as far as something names them. */
static void add_folders(struct work *w, struct unit *u)
{
	uint32_t nr = u->nr_held;

	for (uint32_t i = 0; i < nr; i++) {
		struct held h = w->held.v[u->held_at + i];
		struct str name = names_str(&w->g->things, h.thing);

		if (!work_is_path(w, h.thing))
			continue;
		while (name.n && name.p[name.n - 1] != SIGHT_SEPARATOR) {
			name.n--;
			if (name.p[name.n] == '/') {
				sym_t above = names_find(&w->g->things, name);

				if (above && w->seen[above] && can_tell(w, above))
					add_held(w, u, above, h.depth + DEPTH_PREFIX);
			}
		}
	}
}

void find_owners(struct work *w, struct owners *o)
{
	struct own_names own = { 0 };

	*o = (struct owners){ 0 };
	vec_each (&w->units, u) {
		own_of(w, u, &own);
		note_owner(w, o, &own);
	}
	decide(w, o);
	if (o->pairs.nr)
		qsort(o->pairs.v, o->pairs.nr, sizeof(*o->pairs.v), by_value);
	vec_each (&w->units, u) {
		own_of(w, u, &own);
		u->held_at = (uint32_t)w->held.nr;
		for (size_t i = 0; i < own.v.nr; i++)
			add_held(w, u, own.v.v[i], 0);
		add_owners(w, o, u);
		add_folders(w, u);
	}
	vec_done(&own.v);
}

void owners_done(struct owners *o)
{
	map_done(&o->of);
	map_done(&o->kinds);
	vec_done(&o->pairs);
}
