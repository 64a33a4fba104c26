#include "infer/objects/census.h"

#include <stdlib.h>
#include <string.h>

#include "base/shelf.h"
#include "base/time.h"
#include "infer/objects/told.h"
#include "model/mention.h"

enum {
	SMALL_LINES = 200, /* fewer than that are read as literally as the paper does */
	MANY_WAYS = 16,    /* in which a value is shown */
};

static void span_of(struct census *w)
{
	w->first_ns = w->last_ns = NS_NONE;
	vec_each (&w->told->notes, n) {
		census_look(w, (size_t)(n - w->told->notes.v));
		w->nr_lines += n->count;
		if (n->first_ns != NS_NONE && (w->first_ns == NS_NONE || n->first_ns < w->first_ns))
			w->first_ns = n->first_ns;
		if (n->last_ns != NS_NONE && (w->last_ns == NS_NONE || n->last_ns > w->last_ns))
			w->last_ns = n->last_ns;
	}
}

static void number_logs(struct census *w)
{
	size_t nr = (size_t)w->told->texts.nr + 1;

	w->log_of = shelf_alloc(w->shelf, mem_bytes(nr, sizeof(*w->log_of)));
	memset(w->log_of, 0xff, nr * sizeof(*w->log_of));
	vec_each (&w->told->notes, n) {
		census_look(w, (size_t)(n - w->told->notes.v));
		if (w->log_of[n->file] != UINT32_MAX)
			continue;
		w->log_of[n->file] = (uint32_t)w->logs.nr;
		vec_push(&w->logs, n->file);
	}
}

static uint64_t key_of(const struct told_id *id)
{
	return map_pair(id->shown << 6 | id->place, id->value);
}

/* Of a chain from here on: the one that looks the same, or UINT32_MAX. Most values are shown in a
 * few ways, which are tried one by one. Those farther up are in a table, as is from now on the
 * last one that was tried. */
static uint32_t find_same(const struct census *w, const struct told_id *id, struct map *many)
{
	uint32_t at = w->latest_of[id->value], last = 0;
	const uint64_t *known;
	size_t nr = 0;

	for (; at && nr < MANY_WAYS; nr++, at = w->earlier.v[at - 1]) {
		const struct told_id *d = &w->distinct.v[at - 1];

		if (d->shown == id->shown && d->place == id->place)
			return at - 1;
		last = at;
	}
	known = at ? map_find(many, key_of(id)) : NULL;
	if (!known && nr == MANY_WAYS)
		*map_at(many, key_of(&w->distinct.v[last - 1])) = last;
	return known ? (uint32_t)*known - 1 : UINT32_MAX;
}

/* Most steps look at identifiers, not at lines: of these there are far fewer. Those of one value
 * are in a chain: they stand where they were added, close to each other, as in a table they do
 * not. */
static void find_distinct(struct census *w)
{
	const struct told *t = w->told;
	struct map many = { .shelf = w->shelf };

	w->nr_values = t->values.nr;
	w->latest_of =
		shelf_zalloc(w->shelf, mem_bytes((size_t)w->nr_values + 1, sizeof(*w->latest_of)));
	w->distinct_of = shelf_alloc(w->shelf, mem_bytes(t->ids.nr + 1, sizeof(*w->distinct_of)));
	for (size_t i = 0; i < t->ids.nr; i++) {
		const struct told_id *id = &t->ids.v[i];
		uint32_t same = find_same(w, id, &many);

		census_look(w, i);
		if (same == UINT32_MAX) {
			same = (uint32_t)w->distinct.nr;
			shelf_push(w->shelf, &w->distinct, *id);
			shelf_push(w->shelf, &w->earlier, w->latest_of[id->value]);
			w->latest_of[id->value] = same + 1;
		}
		w->distinct_of[i] = same;
	}
	map_done(&many);
}

bool census_is_first(const struct census *w, size_t distinct, struct map *many)
{
	const struct told_id *id = &w->distinct.v[distinct];
	uint32_t kind = census_kind(w, id), at = w->earlier.v[distinct], before, last = 0;
	size_t nr = 0;
	bool is_known = false;

	for (; at && nr < MANY_WAYS; nr++, at = w->earlier.v[at - 1]) {
		last = at;
		if (!is_known && census_kind(w, &w->distinct.v[at - 1]) == kind)
			is_known = true;
	}
	if (at && !is_known)
		is_known = map_find(many, map_pair(kind, id->value));
	if (nr == MANY_WAYS) {
		before = census_kind(w, &w->distinct.v[last - 1]);
		*map_at(many, map_pair(before, id->value)) = 1;
	}
	return !is_known;
}

bool census_has(const struct census *w, uint32_t kind, sym_t value)
{
	uint32_t at = value < w->nr_values ? w->latest_of[value] : 0;

	while (at && census_kind(w, &w->distinct.v[at - 1]) != kind)
		at = w->earlier.v[at - 1];
	return at;
}

void census_init(struct census *w, struct told *t, struct arena *a, struct losses *losses)
{
	*w = (struct census){ .told = t, .shelf = t->shelf, .arena = a, .losses = losses };
	w->thing_at.shelf = w->same.shelf = w->shelf;
	w->kind_of = mem_alloc(mem_bytes(3 * ((size_t)t->shown.nr + 1), sizeof(*w->kind_of)));
	find_distinct(w);
	span_of(w);
	w->is_small = w->nr_lines < SMALL_LINES;
	number_logs(w);
}

void census_done(struct census *w)
{
	free(w->kind_of);
	shelf_done(w->shelf, &w->distinct);
	shelf_give(w->shelf, w->distinct_of);
	shelf_give(w->shelf, w->latest_of);
	shelf_done(w->shelf, &w->earlier);
	vec_done(&w->kinds);
	shelf_done(w->shelf, &w->things);
	map_done(&w->thing_at);
	shelf_done(w->shelf, &w->named);
	shelf_done(w->shelf, &w->named_at);
	vec_done(&w->path);
	vec_done(&w->path_at);
	vec_done(&w->writers);
	shelf_done(w->shelf, &w->aliases);
	map_done(&w->same);
	vec_done(&w->logs);
	shelf_give(w->shelf, w->log_of);
}

static size_t slot_of(const struct told_id *id)
{
	size_t look = id->place & NAMED_NUMBER ? 1 : id->place & NAMED_WORD ? 2 : 0;

	return 3 * (size_t)id->shown + look;
}

uint32_t census_kind(const struct census *w, const struct told_id *id)
{
	return w->kind_of[slot_of(id)];
}

void census_set_kind(struct census *w, const struct told_id *id, uint32_t kind)
{
	w->kind_of[slot_of(id)] = kind;
}

uint32_t census_thing(struct census *w, uint32_t kind, sym_t value, uint32_t scope)
{
	uint64_t key = map_three(kind, scope, value);

	for (;; key++) {
		uint64_t *at = map_at(&w->thing_at, key);
		const struct thing *t;

		if (!*at) {
			shelf_push(w->shelf, &w->things,
				   (struct thing){ kind, value, scope, NS_NONE, NS_NONE, 0, 0 });
			*at = w->things.nr;
			return (uint32_t)(*at - 1);
		}
		t = &w->things.v[*at - 1];
		if (t->kind == kind && t->value == value && t->scope == scope)
			return (uint32_t)(*at - 1);
	}
}

struct str census_name(const struct census *w, uint32_t thing, struct arena *a)
{
	const struct thing *t = &w->things.v[thing];
	struct str value = names_str(&w->told->values, t->value);

	if (!t->life)
		return arena_str(a, value);
	return arena_fmt(a, STR_FMT "#%u", STR_ARG(value), (unsigned)t->life + 1);
}

void census_lives(struct census *w, uint32_t thing, const struct note *n)
{
	struct thing *t = &w->things.v[thing];

	if (n->first_ns != NS_NONE && (t->first_ns == NS_NONE || n->first_ns < t->first_ns))
		t->first_ns = n->first_ns;
	if (n->last_ns != NS_NONE && (t->last_ns == NS_NONE || n->last_ns > t->last_ns))
		t->last_ns = n->last_ns;
	t->lines += n->count;
}

void census_count(struct census *w)
{
	vec_each (&w->kinds, k)
		k->nr_things = 0;
	vec_each (&w->things, t) {
		census_look(w, (size_t)(t - w->things.v));
		w->kinds.v[t->kind].nr_things += thing_is_used(w, t);
	}
}
