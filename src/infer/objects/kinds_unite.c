/* Types that are one: those of random values, words or addresses that share values (a thing goes by
 * several keys: uuid, datanodeUuid), since chance does not make them equal. Names with a number in
 * them show a type of their own each where they begin differently (usersA1, ordersB2): they are of
 * the kind that all of them are values of. Paths are one kind whatever folder they begin with where
 * the same statements print them. */
#include <stdlib.h>

#include "base/shelf.h"
#include "base/sort.h"
#include "infer/objects/kinds.h"
#include "infer/objects/elders.h"
#include "infer/objects/told.h"
#include "infer/objects/census.h"

enum { MAX_SHARING = 16 }; /* types of one value that are compared pair by pair */

struct seen {
	sym_t value;
	uint32_t kind;
};

static uint64_t by_value(const void *record)
{
	const struct seen *s = record;

	return map_pair(s->value, s->kind);
}

static bool has_schema(const struct kind *k)
{
	unsigned known = KIND_NUMBER | KIND_RANDOM | KIND_ADDRESS | KIND_PATH;

	return !(k->traits & known) && str_find_char(k->shown, '#') < k->shown.n;
}

/* All values of a schema are values of a kind that has more. */
static bool is_contained(const struct kind *inner, const struct kind *outer, uint64_t nr_shared,
			 uint64_t nr_inner, uint64_t nr_outer)
{
	return has_schema(inner) && outer->traits & KIND_WORD && nr_shared == nr_inner &&
	       nr_outer >= 3 && nr_outer > nr_inner;
}

static unsigned sort_of(const struct kind *k)
{
	unsigned sorts = KIND_WORD | KIND_RANDOM | KIND_ADDRESS | KIND_PATH;

	if (k->traits & KIND_NUMBER && !(k->traits & KIND_SMALL))
		return KIND_NUMBER;
	return k->traits & sorts;
}

uint32_t kinds_root(const struct census *w, uint32_t kind)
{
	while (w->kinds.v[kind].fate == FATE_MERGED)
		kind = w->kinds.v[kind].into;
	return kind;
}

uint32_t kinds_join(struct census *w, uint32_t a, uint32_t b)
{
	uint32_t into, from;

	a = kinds_root(w, a);
	b = kinds_root(w, b);
	into = a < b ? a : b;
	from = a < b ? b : a;
	if (from != into) {
		w->kinds.v[from].fate = FATE_MERGED;
		w->kinds.v[from].into = into;
	}
	return into;
}

static void join_shared(struct census *w, const struct map *shared, const uint64_t *nr_values)
{
	const struct map_slot *s = NULL;

	while ((s = map_next(shared, s))) {
		uint32_t a = (uint32_t)(s->key >> 32), b = (uint32_t)s->key;
		uint64_t fewer = nr_values[a] < nr_values[b] ? nr_values[a] : nr_values[b];

		const struct kind *x = &w->kinds.v[a], *y = &w->kinds.v[b];
		bool is_inner = is_contained(x, y, s->value, nr_values[a], nr_values[b]) ||
				is_contained(y, x, s->value, nr_values[b], nr_values[a]);

		if (is_inner || (sort_of(x) && sort_of(x) == sort_of(y) && s->value >= 2 &&
				 10 * s->value >= 3 * fewer))
			kinds_join(w, a, b);
	}
}

struct printed {
	uint32_t template, kind;
};

static int by_template(const void *a, const void *b)
{
	const struct printed *x = a, *y = b;

	if (x->template != y->template)
		return x->template <y->template ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Paths that half of the statements of the rarer kind print as well. */
static void join_paths(struct census *w)
{
	VEC(struct printed) v = { 0 };
	struct map known = { .shelf = w->shelf }, shared = { 0 };
	uint64_t *nr = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*nr)));
	const struct map_slot *s = NULL;

	vec_each (&w->told->notes, n) {
		census_look(w, (size_t)(n - w->told->notes.v));
		for (size_t i = 0; i < n->nr; i++) {
			uint32_t kind = kinds_root(w, census_kind(w, &w->told->ids.v[n->ids + i]));

			if (!(w->kinds.v[kind].traits & KIND_PATH) ||
			    (*map_at(&known, map_pair(kind, n->template)))++)
				continue;
			nr[kind]++;
			vec_push(&v, (struct printed){ n->template, kind });
		}
	}
	if (v.nr)
		qsort(v.v, v.nr, sizeof(*v.v), by_template);
	for (size_t i = 0, end; i < v.nr; i = end) {
		for (end = i; end < v.nr && v.v[end].template == v.v[i].template; end++)
			;
		for (size_t a = i; a < end && end - i <= MAX_SHARING; a++)
			for (size_t b = a + 1; b < end; b++)
				(*map_at(&shared, map_pair(v.v[a].kind, v.v[b].kind)))++;
	}
	while ((s = map_next(&shared, s))) {
		uint32_t a = (uint32_t)(s->key >> 32), b = (uint32_t)s->key;

		if (s->value >= 2 && 2 * s->value >= (nr[a] < nr[b] ? nr[a] : nr[b]))
			kinds_join(w, a, b);
	}
	free(nr);
	vec_done(&v);
	map_done(&known);
	map_done(&shared);
}

void kinds_unite(struct census *w)
{
	VEC(struct seen) seen = { 0 };
	struct map many = { .shelf = w->shelf }, shared = { 0 };
	uint64_t *nr_values = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*nr_values)));

	for (size_t d = 0; d < w->distinct.nr; d++) {
		const struct told_id *id = &w->distinct.v[d];
		uint32_t kind = census_kind(w, id);

		census_look(w, d);
		if (!census_is_first(w, d, &many) ||
		    (!sort_of(&w->kinds.v[kind]) && !has_schema(&w->kinds.v[kind])))
			continue;
		nr_values[kind]++;
		shelf_push(w->shelf, &seen, (struct seen){ id->value, kind });
	}
	sort_records_on(w->shelf, seen.v, seen.nr, sizeof(*seen.v), by_value);
	for (size_t i = 0, end; i < seen.nr; i = end) {
		for (end = i; end < seen.nr && seen.v[end].value == seen.v[i].value; end++)
			;
		for (size_t a = i; a < end && end - i <= MAX_SHARING; a++)
			for (size_t b = a + 1; b < end; b++)
				(*map_at(&shared, map_pair(seen.v[a].kind, seen.v[b].kind)))++;
	}
	join_shared(w, &shared, nr_values);
	if (!w->is_small) {
		join_paths(w);
		kinds_families(w);
	}
	elders_unite(w);
	for (size_t i = 0; i < 3 * ((size_t)w->told->shown.nr + 1); i++)
		if (w->kind_of[i] != UINT32_MAX)
			w->kind_of[i] = kinds_root(w, w->kind_of[i]);
	free(nr_values);
	shelf_done(w->shelf, &seen);
	map_done(&many);
	map_done(&shared);
}
