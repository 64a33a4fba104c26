/*
 * A thread that takes calls as they come may name a block, then a file: nothing that both lines
 * name can differ. Once it is known which file the block is of, it can. One pass over the lines.
 */
#include "infer/requests/apart.h"

enum { OWNERS_MAX = 16 }; /* further ones of one unit are left out */

/* What a line is about: of each kind of owner one value; 0: several. */
struct about {
	uint32_t kind[OWNERS_MAX], value[OWNERS_MAX];
	unsigned nr;
};

static void add(struct about *a, const struct work *w, uint32_t value)
{
	uint32_t kind = w->g->kind_of.v[value];

	for (unsigned i = 0; i < a->nr; i++)
		if (a->kind[i] == kind) {
			a->value[i] = a->value[i] == value ? value : 0;
			return;
		}
	if (a->nr == OWNERS_MAX)
		return;
	a->kind[a->nr] = kind;
	a->value[a->nr++] = value;
}

/* Compounds and paths are given to things; numbers and hashes may be in common by nature. */
static bool can_own(const struct kind_look *look)
{
	return (look->stem || look->is_path) && !look->is_numbers;
}

static void about_line(const struct work *w, const struct owners *o, const bool *is_owner,
		       const struct seen_line *l, struct about *a)
{
	a->nr = 0;
	for (unsigned i = 0; i < l->nr_own; i++) {
		uint32_t name = line_names(w, l)[i], kind = w->g->kind_of.v[name];

		if (w->is_hub[name] || w->is_measure[kind])
			continue;
		if (is_owner[kind])
			add(a, w, name);
		for (size_t k = hold_owners_at(o, kind);
		     k < o->pairs.nr && o->pairs.v[k] >> 32 == kind; k++) {
			uint32_t coarse = (uint32_t)o->pairs.v[k];
			uint32_t owner = is_owner[coarse] ? hold_owner_of(o, name, coarse) : 0;

			if (owner)
				add(a, w, owner);
		}
	}
}

static bool is_below(struct str a, struct str b)
{
	return str_starts(a, b) && a.n > b.n && a.p[b.n] == '/';
}

static bool agree(const struct work *w, uint32_t a, uint32_t b)
{
	struct str x = gather_value(w->g, a), y = gather_value(w->g, b);

	return a == b || (work_is_path(w, a) && (is_below(x, y) || is_below(y, x)));
}

/* Whether the line is about something else than those before; they are about both otherwise. */
static bool differs(const struct work *w, struct about *all, const struct about *a)
{
	bool is_same = false, is_other = false;

	for (unsigned i = 0; i < a->nr; i++)
		for (unsigned k = 0; k < all->nr; k++) {
			uint32_t x = a->value[i], y = all->value[k];

			if (a->kind[i] != all->kind[k] || !x || !y)
				continue;
			if (agree(w, x, y))
				is_same = true;
			else
				is_other = true;
		}
	return is_other && !is_same;
}

static void cut_unit(struct work *w, const struct owners *o, const bool *is_owner, size_t unit,
		     uint32_t *executions)
{
	struct unit rest = w->units.v[unit];
	struct about all = { .nr = 0 }, a;

	for (uint32_t at = rest.from; at < rest.to; at++) {
		about_line(w, o, is_owner, work_line(w, at), &a);
		if (differs(w, &all, &a)) {
			work_fit(w, &w->units.v[unit], rest.from, at);
			rest.from = at;
			rest.execution = ++*executions;
			vec_push(&w->units, rest);
			unit = w->units.nr - 1;
			all.nr = 0;
		}
		for (unsigned i = 0; i < a.nr; i++)
			if (a.value[i])
				add(&all, w, a.value[i]);
	}
	work_fit(w, &w->units.v[unit], rest.from, rest.to);
}

void apart_cut(struct work *w, const struct owners *o)
{
	size_t nr = w->units.nr;
	uint32_t executions = 0;
	bool *is_owner = mem_zalloc(w->g->kinds.nr + 1);

	for (size_t i = 0; i < o->pairs.nr; i++)
		is_owner[(uint32_t)o->pairs.v[i]] = can_own(&w->looks[(uint32_t)o->pairs.v[i]]);
	vec_each (&w->units, u)
		executions = u->execution > executions ? u->execution : executions;
	for (size_t i = 0; i < nr && o->pairs.nr; i++)
		if (w->units.v[i].to - w->units.v[i].from > 1)
			cut_unit(w, o, is_owner, i, &executions);
	if (w->units.nr > nr)
		work_sort(w);
	free(is_owner);
}
