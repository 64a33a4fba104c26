/* Small numbers share values by chance, so that it takes the key to say it: "ppid" of "pid",
 * "parent_task" of "task"; half of the parents must be named as themselves, too. A line that names
 * both is about the child: what else it names says nothing of the parent. */
#include "infer/objects/elders.h"

#include <string.h>

#include "base/map.h"
#include "base/shelf.h"
#include "base/time.h"
#include "infer/objects/census.h"
#include "infer/objects/kinds.h"
#include "infer/objects/told.h"

/* What the key of a parent calls the child, or nothing. */
static struct str child_key(struct str key)
{
	static const struct str fronts[] = { STR("parent_"), STR("parent-"), STR("parent"),
					     STR("p") };

	for (size_t i = 0; i < sizeof(fronts) / sizeof(*fronts); i++)
		if (key.n > fronts[i].n + 1 && str_eq_nocase(str_head(key, fronts[i].n), fronts[i]))
			return str_skip(key, fronts[i].n);
	return STR("");
}

static uint32_t kind_shown_as(const struct census *w, struct str shown, unsigned trait)
{
	for (uint32_t i = 0; i < w->kinds.nr; i++)
		if (shown.n && w->kinds.v[i].traits & trait &&
		    str_eq_nocase(w->kinds.v[i].shown, shown))
			return i;
	return UINT32_MAX;
}

static bool half_are_named(const struct census *w, uint32_t elder, uint32_t child)
{
	struct map values = { .shelf = w->shelf };
	uint64_t nr = 0, nr_named = 0;

	vec_each (&w->told->ids, id) {
		census_look(w, (size_t)(id - w->told->ids.v));
		*map_at(&values, id->value) |= census_kind(w, id) == elder   ? 1u
					       : census_kind(w, id) == child ? 2u
									     : 0u;
	}
	for (const struct map_slot *s = NULL; (s = map_next(&values, s));) {
		nr += s->value & 1;
		nr_named += s->value == 3;
	}
	map_done(&values);
	return nr && 2 * nr_named >= nr;
}

void elders_unite(struct census *w)
{
	for (uint32_t i = 0; i < w->kinds.nr; i++) {
		struct str shown = w->kinds.v[i].shown;
		unsigned trait = w->kinds.v[i].traits & KIND_NUMBER;
		uint32_t child = kind_shown_as(w, child_key(shown), trait);

		if (!trait || child == UINT32_MAX || !half_are_named(w, i, child))
			continue;
		child = kinds_join(w, child, i);
		w->kinds.v[child].elder = names_find(&w->told->shown, shown);
	}
}

bool elders_is(const struct census *w, const struct note *n, const struct told_id *id)
{
	uint32_t kind = census_kind(w, id);
	const struct told_id *ids = w->told->ids.v + n->ids;

	if (!w->kinds.v[kind].elder || id->shown != w->kinds.v[kind].elder)
		return false;
	for (size_t i = 0; i < n->nr; i++)
		if (ids[i].shown != id->shown && ids[i].value != id->value &&
		    census_kind(w, &ids[i]) == kind)
			return true;
	return false;
}

struct finding {
	const struct census *w;
	struct elders *e;
	struct map last;  /* (kind, value, scope): 1 + the last thing of that name */
	uint32_t *before; /* by thing: 1 + the one of that name before it */
};

static uint64_t key_of(uint32_t kind, sym_t value, uint32_t scope)
{
	return map_three(kind, scope, value);
}

static void index_things(struct finding *f)
{
	const struct census *w = f->w;

	for (uint32_t i = 0; i < w->things.nr; i++) {
		const struct thing *t = &w->things.v[i];
		uint64_t *at;

		census_look(w, i);
		f->before[i] = 0;
		if (!w->kinds.v[t->kind].elder || !thing_is_used(w, t))
			continue;
		at = map_at(&f->last, key_of(t->kind, t->value, t->scope));
		f->before[i] = (uint32_t)*at;
		*at = i + 1;
	}
}

/* Of several of that name, the last that was there by then. */
static uint32_t thing_then(const struct finding *f, uint64_t key, int64_t ns)
{
	const uint64_t *at = map_find(&f->last, key);
	uint32_t thing = at ? (uint32_t)*at : 0;

	while (thing && f->before[thing - 1] && f->w->things.v[thing - 1].first_ns > ns)
		thing = f->before[thing - 1];
	return thing ? thing - 1 : UINT32_MAX;
}

static void take_line(struct finding *f, uint32_t note, const struct told_id *id)
{
	const struct census *w = f->w;
	const struct note *n = &w->told->notes.v[note];
	uint32_t kind = census_kind(w, id);

	for (uint32_t i = w->named_at.v[note]; i < w->named_at.v[note + 1]; i++) {
		uint32_t child = w->named.v[i], parent;
		const struct thing *t = &w->things.v[child];

		if (t->kind != kind || t->value == id->value)
			continue;
		parent = thing_then(f, key_of(kind, id->value, t->scope), n->first_ns);
		if (parent == UINT32_MAX)
			continue;
		if (f->e->parent[child] == UINT32_MAX)
			f->e->parent[child] = parent;
		f->e->lines[kind] += n->count;
		f->e->against[kind] += f->e->parent[child] == parent ? 0 : n->count;
	}
}

/* Whether a was named first, or is the one of a lower number. */
static bool is_earlier(const struct census *w, uint32_t a, uint32_t b)
{
	const struct thing *x = &w->things.v[a], *y = &w->things.v[b];

	return x->first_ns != y->first_ns ? x->first_ns < y->first_ns : a < b;
}

static void open_circle(struct elders *e, const struct census *w, uint32_t thing)
{
	uint32_t first = thing;

	for (uint32_t i = e->parent[thing]; i != thing; i = e->parent[i])
		if (is_earlier(w, i, first))
			first = i;
	e->parent[first] = UINT32_MAX;
}

/* Nobody is his own ancestor: of a circle, who was named first has no parent. A parent is often
 * named by its children first and by itself when it ends, so that the order alone proves nothing.
 */
static void open_circles(struct elders *e, const struct census *w)
{
	size_t bytes = mem_bytes(w->things.nr + 1, sizeof(uint32_t));
	uint32_t *seen = shelf_alloc(w->shelf, bytes); /* 1 + who was begun with */

	memset(seen, 0, bytes);
	for (uint32_t i = 0; i < w->things.nr; i++) {
		uint32_t at = i;

		census_look(w, i);
		while (e->parent[at] != UINT32_MAX && !seen[at]) {
			seen[at] = i + 1;
			at = e->parent[at];
		}
		if (e->parent[at] != UINT32_MAX && seen[at] == i + 1)
			open_circle(e, w, at);
	}
	shelf_give(w->shelf, seen);
}

void elders_find(struct elders *e, const struct census *w)
{
	struct finding f = { .w = w, .e = e, .last.shelf = w->shelf };
	bool is_any = false;

	*e = (struct elders){ 0 };
	vec_each (&w->kinds, k)
		is_any |= k->elder && kind_is_kept(k);
	if (!is_any)
		return;
	e->parent = shelf_alloc(w->shelf, mem_bytes(w->things.nr + 1, sizeof(*e->parent)));
	memset(e->parent, 0xff, mem_bytes(w->things.nr, sizeof(*e->parent)));
	e->lines = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*e->lines)));
	e->against = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*e->against)));
	f.before = shelf_alloc(w->shelf, mem_bytes(w->things.nr + 1, sizeof(*f.before)));
	index_things(&f);
	for (uint32_t i = 0; i < w->told->notes.nr; i++) {
		const struct note *n = &w->told->notes.v[i];

		census_look(w, i);
		for (size_t j = 0; j < n->nr; j++)
			if (elders_is(w, n, &w->told->ids.v[n->ids + j]))
				take_line(&f, i, &w->told->ids.v[n->ids + j]);
	}
	open_circles(e, w);
	shelf_give(w->shelf, f.before);
	map_done(&f.last);
}

void elders_done(struct elders *e, const struct census *w)
{
	shelf_give(w->shelf, e->parent);
	free(e->lines);
	free(e->against);
}
