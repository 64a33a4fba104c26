/* The paper merges all kinds of a component of 1:1 relations if every one of their things has its
 * counterparts. Beyond it: one in twenty may lack them, and few values in few statements prove
 * nothing (three nodes have three of everything). Names that contain another name are what belongs
 * to it, not the same. */
#include "infer/objects/merge.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/shelf.h"
#include "infer/objects/relate.h"
#include "infer/objects/told.h"
#include "infer/objects/census.h"

static bool covers(const struct function *f, const struct kind *children,
		   const struct kind *parents, bool is_small)
{
	if (is_small)
		return f->nr_children == children->nr_things && f->nr_parents == parents->nr_things;
	return 20 * (uint64_t)f->nr_children >= 19 * (uint64_t)children->nr_things &&
	       20 * (uint64_t)f->nr_parents >= 19 * (uint64_t)parents->nr_things;
}

/* Numbers are not proved to be the same by being as few and as small. */
static bool is_by_chance(const struct tie *t, const struct kind *k)
{
	return k->traits & KIND_SMALL || t->a_of_b.nr_children < 20 || t->nr_templates < 3;
}

static bool are_interchangeable(const struct census *w, const struct tie *t)
{
	const struct kind *a = &w->kinds.v[t->a], *b = &w->kinds.v[t->b];
	unsigned never = KIND_WORD | KIND_LOG;

	if (t->is_alias)
		return true;
	if (relate_kind(t) != RELATION_ONE || t->is_embedded || t->is_near || t->is_within)
		return false;
	if (t->is_equal)
		return true;
	if (!w->is_small && ((a->traits | b->traits) & never || a->scope || b->scope))
		return false;
	if (!w->is_small && ((a->traits & KIND_NUMBER && is_by_chance(t, a)) ||
			     (b->traits & KIND_NUMBER && is_by_chance(t, b))))
		return false;
	if (!w->is_small && t->a_of_b.nr_children < 5 && t->nr_templates < 3)
		return false;
	return covers(&t->a_of_b, b, a, w->is_small);
}

static uint32_t main_kind(const struct census *w, uint32_t kind)
{
	while (w->kinds.v[kind].fate == FATE_MERGED)
		kind = w->kinds.v[kind].into;
	return kind;
}

/* Each thing of a merged kind: its counterpart of the kind that stands for it. */
static uint32_t counterpart(struct census *w, const struct relating *r, uint32_t thing,
			    struct map *known)
{
	uint64_t *at = map_find(known, thing);
	uint32_t kind = w->things.v[thing].kind, to = w->kinds.v[kind].into, found = UINT32_MAX;
	const struct tie *t = relate_find(r, kind, to);

	if (at)
		return (uint32_t)(*at - 1);
	if (t && t->a == to && t->a_of_b.holds)
		found = relate_parent(r, &t->a_of_b, thing);
	else if (t && t->b == to && t->b_of_a.holds)
		found = relate_parent(r, &t->b_of_a, thing);
	if (found == UINT32_MAX)
		found = census_thing(w, to, w->things.v[thing].value, 0);
	else
		shelf_push(w->shelf, &w->aliases, (struct other_name){ found, thing });
	*map_at(known, thing) = found + 1;
	return found;
}

static uint32_t final_thing(struct census *w, const struct relating *r, uint32_t thing,
			    struct map *known)
{
	while (w->kinds.v[w->things.v[thing].kind].fate == FATE_MERGED)
		thing = counterpart(w, r, thing, known);
	return thing;
}

static bool is_named(const struct census *w, size_t begin, uint32_t thing)
{
	for (size_t i = begin; i < w->named.nr; i++)
		if (w->named.v[i] == thing)
			return true;
	return false;
}

/* Lines name the thing that stands for it, once. */
static void rename_things(struct census *w, const struct relating *r)
{
	struct map known = { .shelf = w->shelf };
	uint32_t *old = w->named.v;

	w->named.v = NULL;
	w->named.nr = w->named.room = 0;
	for (size_t i = 0; i < w->told->notes.nr; i++) {
		uint32_t begin = w->named_at.v[i], end = w->named_at.v[i + 1];

		census_look(w, i);
		w->named_at.v[i] = (uint32_t)w->named.nr;
		for (uint32_t j = begin; j < end; j++) {
			uint32_t thing = final_thing(w, r, old[j], &known);

			if (is_named(w, w->named_at.v[i], thing))
				continue;
			shelf_push(w->shelf, &w->named, thing);
			if (thing != old[j])
				census_lives(w, thing, &w->told->notes.v[i]);
		}
	}
	w->named_at.v[w->told->notes.nr] = (uint32_t)w->named.nr;
	for (size_t i = 0; i < w->path.nr; i++)
		w->path.v[i] = final_thing(w, r, w->path.v[i], &known);
	for (size_t i = 0; i < w->things.nr; i++) {
		census_look(w, i);
		if (w->things.v[i].scope)
			w->things.v[i].scope =
				final_thing(w, r, w->things.v[i].scope - 1, &known) + 1;
	}
	shelf_give(w->shelf, old);
	map_done(&known);
}

/* Whether a is the better name of both: a number may be given out again. */
static bool stands_for(const struct kind *a, const struct kind *b)
{
	if ((a->traits ^ b->traits) & KIND_NUMBER)
		return b->traits & KIND_NUMBER;
	return a->lines > b->lines;
}

void merge_kinds(struct census *w, const struct relating *r)
{
	bool is_any = false;

	vec_each (&r->ties, t) {
		uint32_t a = main_kind(w, t->a), b = main_kind(w, t->b);

		if (a == b || !are_interchangeable(w, t))
			continue;
		/* a chain of merges goes by direct ties only, so that each thing finds its own */
		if (a != t->a || b != t->b)
			continue;
		if (stands_for(&w->kinds.v[b], &w->kinds.v[a])) {
			uint32_t swap = a;

			a = b;
			b = swap;
		}
		w->kinds.v[b].fate = FATE_MERGED;
		w->kinds.v[b].into = a;
		w->kinds.v[a].is_settled = w->kinds.v[b].is_settled = false;
		is_any = true;
	}
	vec_each (&w->kinds, k)
		if (k->scope)
			k->scope = main_kind(w, k->scope - 1) + 1;
	if (is_any)
		rename_things(w, r);
}

static bool is_strong(const struct kind *k)
{
	unsigned weak = KIND_NUMBER | KIND_WORD | KIND_ADDRESS | KIND_PATH | KIND_LOG;

	if (!kind_is_kept(k))
		return false;
	/* a connection has one user, and so has a process */
	return !(k->traits & weak) || k->traits & KIND_BRIEF ||
	       (k->traits & KIND_NUMBER && !(k->traits & KIND_SMALL) && k->nr_templates >= 3);
}

/* A name is something that another thing has one of: of its user an application has one. */
static bool is_kept_by_any(const struct census *w, const struct relating *r, uint32_t word)
{
	vec_each (&r->ties, t) {
		uint32_t other = t->a == word ? t->b : t->a;
		const struct function *f = t->a == word ? &t->a_of_b : &t->b_of_a;

		if ((t->a != word && t->b != word) || !is_strong(&w->kinds.v[other]))
			continue;
		if (f->holds && f->nr_children >= 3 && f->nr_parents >= 2 &&
		    2 * f->nr_children >= w->kinds.v[other].nr_things &&
		    2 * f->lines >= w->kinds.v[word].lines / 5)
			return true;
	}
	return false;
}

void merge_drop_states(struct census *w, const struct relating *r)
{
	for (uint32_t i = 0; i < w->kinds.nr; i++) {
		struct kind *k = &w->kinds.v[i];

		if (kind_is_kept(k) && k->traits & KIND_WORD && !w->is_small &&
		    !is_kept_by_any(w, r, i))
			k->fate = FATE_STATE;
	}
}
