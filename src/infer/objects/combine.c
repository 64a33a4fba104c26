/* Kinds with m:n relations form components. In each, the sets of kinds that lines really name
 * together, without any other of the component, may be objects (step 2); a set that is two others
 * put together is not (step 3). A kind that never stands alone and is not strong by itself leaves
 * the graph. What remains is a number within one of the other kinds, which is how things of
 * scope.h are made, too.
 *
 * Beyond the paper: only kinds of numbers are looked at, since other names tell things apart by
 * themselves however rarely they stand alone; where several sets are left, the number is taken
 * within the kind that nearly all of its lines name and that makes the fewest combinations. */
#include "infer/objects/combine.h"

#include <stdlib.h>

#include "base/map.h"
#include "infer/objects/relate.h"
#include "infer/objects/told.h"
#include "infer/objects/census.h"
#include "model/loss.h"

struct combining {
	struct census *w;
	const struct relating *r;
	uint32_t *component; /* of each kind, a kind that stands for it */
};

static uint32_t root_of(const struct combining *c, uint32_t kind)
{
	while (c->component[kind] != kind)
		kind = c->component[kind];
	return kind;
}

static bool is_ambiguous(const struct kind *k)
{
	return kind_is_kept(k) && k->traits & KIND_SMALL && !k->scope;
}

static void find_components(struct combining *c)
{
	for (uint32_t i = 0; i < c->w->kinds.nr; i++)
		c->component[i] = i;
	vec_each (&c->r->ties, t) {
		uint32_t a = root_of(c, t->a), b = root_of(c, t->b);

		if (relate_kind(t) == RELATION_CROSS)
			c->component[a > b ? a : b] = a > b ? b : a;
	}
}

/* An ambiguous kind, and who is on its lines. */
struct company {
	uint32_t kind;
	uint64_t lines, alone;
	uint32_t nr_always; /* kinds of the component that nearly all lines name */
	uint32_t depth;     /* of scopes, once it is combined */
	uint32_t made;      /* the kind made of it */
	struct map with;    /* kind of the component: lines */
	struct map combos;  /* kind of the component: distinct pairs */
	struct map pairs;   /* of things */
};

struct companies {
	VEC(struct company) v;
};

static void keep_company(const struct combining *c, struct company *o, size_t note)
{
	struct census *w = c->w;
	uint64_t count = w->told->notes.v[note].count;
	uint32_t begin = w->named_at.v[note], end = w->named_at.v[note + 1], self = UINT32_MAX;
	bool is_alone = true;

	for (uint32_t j = begin; j < end; j++)
		if (w->things.v[w->named.v[j]].kind == o->kind)
			self = w->named.v[j];
	if (self == UINT32_MAX)
		return;
	for (uint32_t j = begin; j < end; j++) {
		uint32_t other = w->things.v[w->named.v[j]].kind;

		if (other == o->kind || root_of(c, other) != root_of(c, o->kind))
			continue;
		is_alone = false;
		*map_at(&o->with, other) += count;
		if (!(*map_at(&o->pairs, map_pair(self, w->named.v[j])))++)
			(*map_at(&o->combos, other))++;
	}
	o->lines += count;
	o->alone += is_alone ? count : 0;
}

static bool is_always_with(const struct combining *c, const struct company *o, uint32_t other)
{
	const uint64_t *with = map_find(&o->with, other);
	const struct tie *t = relate_find(c->r, o->kind, other);

	/* a thread of a pool works on anything */
	if (c->w->kinds.v[other].traits & KIND_THREAD)
		return false;
	return with && 10 * *with >= 9 * o->lines && t && relate_kind(t) == RELATION_CROSS;
}

static int by_company(const void *a, const void *b)
{
	const struct company *x = a, *y = b;

	if (x->nr_always != y->nr_always)
		return x->nr_always < y->nr_always ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

static void find_companies(const struct combining *c, struct companies *all)
{
	for (uint32_t kind = 0; kind < c->w->kinds.nr; kind++) {
		struct company o = { .kind = kind, .pairs.shelf = c->w->shelf };

		if (!is_ambiguous(&c->w->kinds.v[kind]))
			continue;
		for (size_t i = 0; i < c->w->told->notes.nr; i++) {
			census_look(c->w, i);
			keep_company(c, &o, i);
		}
		for (uint32_t other = 0; other < c->w->kinds.nr; other++)
			o.nr_always += is_always_with(c, &o, other);
		vec_push(&all->v, o);
	}
	if (all->v.nr)
		qsort(all->v.v, all->v.nr, sizeof(*all->v.v), by_company);
}

static const struct company *combined(const struct companies *all, uint32_t kind)
{
	vec_each (&all->v, o)
		if (o->kind == kind && o->depth)
			return o;
	return NULL;
}

/* The kind within which it is meant, or UINT32_MAX when it stands by itself. A kind that was itself
 * combined is narrower than any other. */
static uint32_t qualifier(const struct combining *c, const struct companies *all, struct company *o)
{
	uint32_t best = UINT32_MAX;
	uint64_t fewest = UINT64_MAX;

	for (uint32_t other = 0; other < c->w->kinds.nr && !o->alone; other++) {
		const struct company *outer = combined(all, other);

		if (!is_always_with(c, o, other) || (is_ambiguous(&c->w->kinds.v[other]) && !outer))
			continue;
		if (outer && outer->depth >= o->depth) {
			o->depth = outer->depth + 1;
			best = outer->made;
		} else if (o->depth <= 1 && *map_at(&o->combos, other) < fewest) {
			fewest = *map_at(&o->combos, other);
			o->depth = 1;
			best = other;
		}
	}
	return best;
}

static uint32_t only_of_kind(const struct census *w, size_t note, uint32_t end, uint32_t kind)
{
	uint32_t found = UINT32_MAX;

	for (uint32_t i = w->named_at.v[note]; i < end; i++) {
		if (w->things.v[w->named.v[i]].kind != kind)
			continue;
		if (found != UINT32_MAX)
			return UINT32_MAX;
		found = w->named.v[i];
	}
	return found;
}

/* Where a line names both, it names the combination instead of the number. */
static void rename_within(struct census *w, uint32_t from, uint32_t made, uint32_t scope)
{
	uint32_t to = 0, begin = w->named_at.v[0];

	for (size_t i = 0; i < w->told->notes.nr; i++) {
		uint32_t end = w->named_at.v[i + 1], outer, first = to;

		census_look(w, i);
		w->named_at.v[i] = begin;
		outer = only_of_kind(w, i, end, scope);
		for (uint32_t j = begin; j < end; j++) {
			uint32_t thing = w->named.v[j];

			if (w->things.v[thing].kind == from) {
				if (outer == UINT32_MAX) {
					w->losses->count[LOSS_IDS_NO_SCOPE] +=
						w->told->notes.v[i].count;
					continue;
				}
				thing = census_thing(w, made, w->things.v[thing].value, outer + 1);
				census_lives(w, thing, &w->told->notes.v[i]);
			}
			w->named.v[to++] = thing;
		}
		w->named_at.v[i] = first;
		begin = end;
	}
	w->named_at.v[w->told->notes.nr] = to;
	w->named.nr = to;
}

static void combine(struct combining *c, struct company *o, uint32_t scope)
{
	struct census *w = c->w;
	struct kind made = w->kinds.v[o->kind];

	made.id = kind_made_of(made.id, w->kinds.v[scope].id);
	made.scope = scope + 1;
	made.fate = FATE_KEPT;
	made.is_settled = false;
	o->made = (uint32_t)w->kinds.nr;
	vec_push(&w->kinds, made);
	w->kinds.v[o->kind].fate = FATE_COMBINED;
	rename_within(w, o->kind, o->made, scope);
}

void combine_kinds(struct census *w, const struct relating *r)
{
	struct combining c = { w, r, mem_alloc(mem_bytes(w->kinds.nr + 1, sizeof(uint32_t))) };
	struct companies all = { 0 };

	find_components(&c);
	find_companies(&c, &all);
	for (size_t i = 0; i < all.v.nr; i++) {
		uint32_t scope = qualifier(&c, &all, &all.v.v[i]);

		if (scope != UINT32_MAX)
			combine(&c, &all.v.v[i], scope);
		else
			all.v.v[i].depth = 0;
	}
	vec_each (&all.v, o) {
		map_done(&o->with);
		map_done(&o->combos);
		map_done(&o->pairs);
	}
	vec_done(&all.v);
	free(c.component);
}
