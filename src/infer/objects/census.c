#include "infer/objects/census.h"

#include <stdlib.h>
#include <string.h>

#include "base/shelf.h"
#include "base/time.h"
#include "infer/objects/told.h"
#include "model/mention.h"

enum { SMALL_LINES = 200 }; /* fewer than that are read as literally as the paper does */

static void span_of(struct census *w)
{
	w->first_ns = w->last_ns = NS_NONE;
	vec_each (&w->told->notes, n) {
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
		if (w->log_of[n->file] != UINT32_MAX)
			continue;
		w->log_of[n->file] = (uint32_t)w->logs.nr;
		vec_push(&w->logs, n->file);
	}
}

/* Most steps look at identifiers, not at lines: of these there are far fewer. */
static void find_distinct(struct census *w)
{
	const struct told *t = w->told;
	struct map seen = { .shelf = w->shelf };

	w->distinct_of = shelf_alloc(w->shelf, mem_bytes(t->ids.nr + 1, sizeof(*w->distinct_of)));
	for (size_t i = 0; i < t->ids.nr; i++) {
		const struct told_id *id = &t->ids.v[i];
		uint64_t *at = map_at(&seen, map_pair(id->value, id->shown << 6 | id->place));

		if (!*at) {
			shelf_push(w->shelf, &w->distinct, *id);
			*at = w->distinct.nr;
		}
		w->distinct_of[i] = (uint32_t)(*at - 1);
	}
	map_done(&seen);
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
	uint64_t key = map_pair(kind, value) * 0x9e3779b97f4a7c15u ^ scope * 0xc2b2ae3d27d4eb4fu;

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

struct str census_name(const struct census *w, uint32_t thing)
{
	const struct thing *t = &w->things.v[thing];
	struct str value = names_str(&w->told->values, t->value);

	if (!t->life)
		return arena_str(w->arena, value);
	return arena_fmt(w->arena, STR_FMT "#%u", STR_ARG(value), (unsigned)t->life + 1);
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
	vec_each (&w->things, t)
		w->kinds.v[t->kind].nr_things += thing_is_used(w, t);
}
