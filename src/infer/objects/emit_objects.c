/* Instances, as in section 4.2 of the paper: a line that names all of an object's identifiers is an
 * event of it; the parents of an object are things that its kind's edges lead to; two objects of
 * one line that are not on one path are linked. */
#include "base/crew.h"
#include "base/mem.h"
#include "base/shelf.h"
#include "base/sort.h"
#include "infer/objects/census.h"
#include "infer/objects/elders.h"
#include "infer/objects/emitting.h"
#include "infer/objects/relate.h"
#include "infer/objects/stack.h"
#include "infer/objects/told.h"

enum { FEW_NOTES = 4096 }; /* fewer are not worth a thread */

struct rank {
	uint32_t thing, type;
	int64_t first_ns;
};

static uint64_t first_of(const void *record)
{
	return sort_signed(((const struct rank *)record)->first_ns);
}

static uint64_t type_of(const void *record)
{
	return ((const struct rank *)record)->type;
}

static void place_objects(struct emitting *e)
{
	const struct census *w = e->w;
	VEC(struct rank) ranks = { 0 };

	for (uint32_t i = 0; i < w->things.nr; i++) {
		const struct thing *t = &w->things.v[i];

		census_look(w, i);
		e->object_of[i] = UINT32_MAX;
		if (e->s->is_in[t->kind] && thing_is_used(w, t))
			shelf_push(w->shelf, &ranks,
				   (struct rank){ i, e->type_of[t->kind], t->first_ns });
	}
	sort_records_on(w->shelf, ranks.v, ranks.nr, sizeof(*ranks.v), first_of);
	sort_records_on(w->shelf, ranks.v, ranks.nr, sizeof(*ranks.v), type_of);
	e->head.nr_objects = ranks.nr;
	e->thing_of = shelf_alloc(w->shelf, mem_bytes(ranks.nr + 1, sizeof(*e->thing_of)));
	for (size_t i = 0; i < ranks.nr; i++) {
		census_look(w, i);
		e->object_of[ranks.v[i].thing] = (uint32_t)i;
		e->thing_of[i] = ranks.v[i].thing;
	}
	shelf_done(w->shelf, &ranks);
}

/* --- parents --------------------------------------------------------------------------------- */

static uint32_t parent_by(const struct emitting *e, const struct edge *edge, uint32_t thing)
{
	const struct tie *t = &e->r->ties.v[edge->tie];
	const struct function *f = edge->from == t->a ? &t->a_of_b : &t->b_of_a;
	uint32_t parent = relate_parent(e->r, f, thing);

	return parent == UINT32_MAX ? UINT32_MAX : e->object_of[parent];
}

static void set_parents(struct emitting *e)
{
	struct shelf *shelf = e->w->shelf;
	VEC(uint32_t) parents = { 0 };

	e->parents.at = shelf_alloc(shelf, mem_bytes(e->head.nr_objects + 1, sizeof(uint64_t)));
	for (size_t i = 0; i < e->head.nr_objects; i++) {
		uint32_t thing = e->thing_of[i], kind = e->w->things.v[thing].kind;
		uint32_t elder = e->elders->parent ? e->elders->parent[thing] : UINT32_MAX;

		census_look(e->w, i);
		e->parents.at[i] = parents.nr;
		vec_each (&e->s->edges, edge) {
			uint32_t parent = edge->to == kind ? parent_by(e, edge, thing) : UINT32_MAX;

			if (parent != UINT32_MAX && parent != i)
				shelf_push(shelf, &parents, parent);
		}
		if (elder != UINT32_MAX && e->object_of[elder] != UINT32_MAX)
			shelf_push(shelf, &parents, e->object_of[elder]);
	}
	e->parents.at[e->head.nr_objects] = parents.nr;
	e->parents.v = parents.v;
}

bool emit_is_above(const struct emitting *e, uint32_t above, uint32_t below, int depth)
{
	for (uint64_t i = e->parents.at[below]; i < e->parents.at[below + 1]; i++) {
		uint32_t parent = e->parents.v[i];

		if (parent == above ||
		    (depth && parent != UINT32_MAX && emit_is_above(e, above, parent, depth - 1)))
			return true;
	}
	return false;
}

static bool is_implied(const struct emitting *e, uint64_t begin, uint64_t end, uint64_t at)
{
	for (uint64_t i = begin; i < end; i++)
		if (i != at && emit_is_above(e, e->parents.v[at], e->parents.v[i], MAX_DEPTH))
			return true;
	return false;
}

/* A parent that is above another parent is implied. Who is above whom stays the same. */
static void reduce_parents(struct emitting *e)
{
	for (size_t i = 0; i < e->head.nr_objects; i++) {
		uint64_t begin = e->parents.at[i], end = e->parents.at[i + 1], to = begin;

		census_look(e->w, i);
		for (uint64_t j = begin; j < end; j++)
			if (!is_implied(e, begin, end, j))
				e->parents.v[to++] = e->parents.v[j];
		while (to < end)
			e->parents.v[to++] = UINT32_MAX;
	}
}

/* --- numbers by object ----------------------------------------------------------------------- */

static void lists_begin(struct emit_lists *l, const struct emitting *e)
{
	l->at = shelf_zalloc(e->w->shelf, mem_bytes(e->head.nr_objects + 2, sizeof(*l->at)));
}

static void lists_count(struct emit_lists *l, uint32_t object)
{
	l->at[object + 2]++;
}

/* All were counted. */
static void lists_place(struct emit_lists *l, const struct emitting *e)
{
	size_t nr = e->head.nr_objects;

	for (size_t i = 2; i < nr + 2; i++) {
		census_look(e->w, i);
		l->at[i] += l->at[i - 1];
	}
	l->v = shelf_alloc(e->w->shelf, mem_bytes(l->at[nr + 1] + 1, sizeof(*l->v)));
}

/* Where the next one of an object goes is at[object + 1], which ends up where it shall be. */
static void lists_add(struct emit_lists *l, uint32_t object, uint32_t number)
{
	l->v[l->at[object + 1]++] = number;
}

static void lists_done(struct emit_lists *l, const struct emitting *e)
{
	shelf_give(e->w->shelf, l->at);
	shelf_give(e->w->shelf, l->v);
}

static void set_aliases(struct emitting *e)
{
	const struct census *w = e->w;

	lists_begin(&e->aliases, e);
	vec_each (&w->aliases, a) {
		census_look(w, (size_t)(a - w->aliases.v));
		if (e->object_of[a->thing] != UINT32_MAX)
			lists_count(&e->aliases, e->object_of[a->thing]);
	}
	lists_place(&e->aliases, e);
	vec_each (&w->aliases, a) {
		census_look(w, (size_t)(a - w->aliases.v));
		if (e->object_of[a->thing] != UINT32_MAX)
			lists_add(&e->aliases, e->object_of[a->thing], a->alias);
	}
}

/* --- lines ----------------------------------------------------------------------------------- */

size_t emit_objects_of(const struct emitting *e, uint32_t note, uint32_t *v)
{
	const struct census *w = e->w;
	uint32_t log = census_log(w, w->told->notes.v[note].file);
	size_t nr = 0;

	for (uint32_t i = w->named_at.v[note]; i < w->named_at.v[note + 1] && nr < MAX_NAMED; i++)
		if (e->object_of[w->named.v[i]] != UINT32_MAX)
			v[nr++] = e->object_of[w->named.v[i]];
	for (uint32_t i = w->path_at.v[log]; i < w->path_at.v[log + 1] && nr < MAX_NAMED; i++) {
		uint32_t object = e->object_of[w->path.v[i]];
		size_t j = 0;

		while (j < nr && v[j] != object)
			j++;
		if (object != UINT32_MAX && j == nr)
			v[nr++] = object;
	}
	return nr;
}

static void find_lines(struct emitting *e)
{
	uint32_t v[MAX_NAMED];

	lists_begin(&e->notes, e);
	for (uint32_t i = 0; i < e->w->told->notes.nr; i++) {
		census_look(e->w, i);
		for (size_t j = emit_objects_of(e, i, v); j-- > 0;)
			lists_count(&e->notes, v[j]);
	}
	lists_place(&e->notes, e);
	for (uint32_t i = 0; i < e->w->told->notes.nr; i++) {
		census_look(e->w, i);
		for (size_t j = emit_objects_of(e, i, v); j-- > 0;)
			lists_add(&e->notes, v[j], i);
	}
}

/* Links and lines know nothing of each other. */
static void find_part(void *ctx, uint32_t item)
{
	if (item)
		emit_find_links(ctx);
	else
		find_lines(ctx);
}

void emit_find_objects(struct emitting *e)
{
	const struct census *w = e->w;

	e->object_of = shelf_alloc(w->shelf, mem_bytes(w->things.nr + 1, sizeof(*e->object_of)));
	place_objects(e);
	set_parents(e);
	reduce_parents(e);
	set_aliases(e);
	crew_run_with(w->told->notes.nr < FEW_NOTES ? 1 : 2, 2, find_part, e);
	e->head.nr_links = e->links.nr;
}

void emit_objects_done(struct emitting *e)
{
	shelf_give(e->w->shelf, e->object_of);
	shelf_give(e->w->shelf, e->thing_of);
	lists_done(&e->parents, e);
	lists_done(&e->aliases, e);
	lists_done(&e->notes, e);
	shelf_done(e->w->shelf, &e->links);
}
