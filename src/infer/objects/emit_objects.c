/* Instances, as in section 4.2 of the paper: a line that names all of an object's identifiers is an
 * event of it; the parents of an object are things that its kind's edges lead to; two objects of
 * one line that are not on one path are linked. */
#include <stdlib.h>
#include <string.h>

#include "base/crew.h"
#include "base/map.h"
#include "base/shelf.h"
#include "base/sort.h"
#include "base/time.h"
#include "infer/objects/elders.h"
#include "infer/objects/emit.h"
#include "infer/objects/relate.h"
#include "infer/objects/stack.h"
#include "infer/objects/told.h"
#include "infer/objects/census.h"
#include "model/object.h"

enum {
	MAX_NAMED = 96,
	MAX_DEPTH = 6,
	FEW_NOTES = 4096, /* fewer are not worth a thread */
};

struct emitting {
	const struct census *w;
	const struct relating *r;
	const struct stack *s;
	const uint32_t *type_of;
	struct object_graph *g;
	const struct elders *elders;
	uint32_t *object_of; /* by thing, UINT32_MAX for none */
	uint32_t *thing_of;  /* by object */
	uint64_t *begin;     /* of the lines of each object in notes; one more */
	uint32_t *notes;     /* object by object, in the order of lines */
	VEC(struct object_link) links;
	struct map link_at;
};

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

static void set_ids(const struct census *w, uint32_t thing, struct object *o, size_t nr)
{
	o->ids = arena_array(w->arena, struct str, nr);
	for (size_t i = nr; i-- > 0;) {
		const struct thing *t = &w->things.v[thing];

		o->ids[i] = census_name(w, thing);
		thing = t->scope ? t->scope - 1 : thing;
	}
}

static void place_objects(struct emitting *e)
{
	const struct census *w = e->w;
	struct object_graph *g = e->g;
	VEC(struct rank) ranks = { 0 };

	for (uint32_t i = 0; i < w->things.nr; i++) {
		const struct thing *t = &w->things.v[i];

		e->object_of[i] = UINT32_MAX;
		if (e->s->is_in[t->kind] && thing_is_used(w, t))
			shelf_push(w->shelf, &ranks,
				   (struct rank){ i, e->type_of[t->kind], t->first_ns });
	}
	sort_records_on(w->shelf, ranks.v, ranks.nr, sizeof(*ranks.v), first_of);
	sort_records_on(w->shelf, ranks.v, ranks.nr, sizeof(*ranks.v), type_of);
	g->nr_objects = ranks.nr;
	g->objects = arena_array(w->arena, struct object, ranks.nr);
	e->thing_of = shelf_alloc(w->shelf, mem_bytes(ranks.nr + 1, sizeof(*e->thing_of)));
	for (size_t i = 0; i < ranks.nr; i++) {
		struct object *o = &g->objects[i];
		const struct thing *t = &w->things.v[ranks.v[i].thing];

		o->type = ranks.v[i].type;
		o->first_ns = t->first_ns;
		o->last_ns = t->last_ns;
		set_ids(w, ranks.v[i].thing, o, g->types[o->type].nr_signature);
		e->object_of[ranks.v[i].thing] = (uint32_t)i;
		e->thing_of[i] = ranks.v[i].thing;
	}
	shelf_done(w->shelf, &ranks);
}

static uint32_t parent_by(const struct emitting *e, const struct edge *edge, uint32_t thing)
{
	const struct tie *t = &e->r->ties.v[edge->tie];
	const struct function *f = edge->from == t->a ? &t->a_of_b : &t->b_of_a;
	uint32_t parent = relate_parent(e->r, f, thing);

	return parent == UINT32_MAX ? UINT32_MAX : e->object_of[parent];
}

static void set_parents(struct emitting *e)
{
	for (size_t i = 0; i < e->g->nr_objects; i++) {
		struct object *o = &e->g->objects[i];
		uint32_t thing = e->thing_of[i], kind = e->w->things.v[thing].kind;
		uint32_t elder = e->elders->parent ? e->elders->parent[thing] : UINT32_MAX;
		size_t room = 1;

		vec_each (&e->s->edges, edge)
			room += edge->to == kind;
		o->parents = arena_array(e->w->arena, uint32_t, room);
		vec_each (&e->s->edges, edge) {
			uint32_t parent = edge->to == kind ? parent_by(e, edge, thing) : UINT32_MAX;

			if (parent != UINT32_MAX && parent != i)
				o->parents[o->nr_parents++] = parent;
		}
		if (elder != UINT32_MAX && e->object_of[elder] != UINT32_MAX)
			o->parents[o->nr_parents++] = e->object_of[elder];
	}
}

/* Whether one is above the other; hierarchies are flat, so this ends soon. */
static bool is_above(const struct object_graph *g, uint32_t above, uint32_t below, int depth)
{
	const struct object *o = &g->objects[below];

	for (size_t i = 0; i < o->nr_parents; i++)
		if (o->parents[i] == above ||
		    (depth && is_above(g, above, o->parents[i], depth - 1)))
			return true;
	return false;
}

/* A parent that is above another parent is implied. Who is above whom stays the same. */
static void reduce_parents(struct object_graph *g)
{
	for (size_t i = 0; i < g->nr_objects; i++) {
		struct object *o = &g->objects[i];
		size_t nr = 0;

		for (size_t j = 0; j < o->nr_parents; j++) {
			bool is_implied = false;

			for (size_t k = 0; k < o->nr_parents; k++)
				is_implied |= k != j &&
					      is_above(g, o->parents[j], o->parents[k], MAX_DEPTH);
			if (!is_implied)
				o->parents[nr++] = o->parents[j];
		}
		o->nr_parents = nr;
	}
}

static void set_aliases(struct emitting *e)
{
	const struct census *w = e->w;

	for (int pass = 0; pass < 2; pass++) {
		vec_each (&w->aliases, a) {
			uint32_t object = e->object_of[a->thing];
			struct object *o = object == UINT32_MAX ? NULL : &e->g->objects[object];

			if (!o)
				continue;
			if (pass)
				o->aliases[o->nr_aliases] = census_name(w, a->alias);
			o->nr_aliases++;
		}
		for (size_t i = 0; i < e->g->nr_objects && !pass; i++) {
			struct object *o = &e->g->objects[i];

			o->aliases = arena_array(w->arena, struct str, o->nr_aliases);
			o->nr_aliases = 0;
		}
	}
}

static void link_objects(struct emitting *e, uint32_t a, uint32_t b, const struct note *n)
{
	uint64_t *at = map_at(&e->link_at, a < b ? map_pair(a, b) : map_pair(b, a));
	struct object_link *l;

	if (!*at) {
		shelf_push(e->w->shelf, &e->links,
			   (struct object_link){ a < b ? a : b, a < b ? b : a, n->first_ns,
						 n->last_ns, 0 });
		*at = e->links.nr;
	}
	l = &e->links.v[*at - 1];
	l->count += n->count;
	if (n->first_ns < l->first_ns)
		l->first_ns = n->first_ns;
	if (n->last_ns > l->last_ns)
		l->last_ns = n->last_ns;
}

/* The objects of a line: what it names, and what its log is the log of. */
static size_t objects_of(const struct emitting *e, size_t note, uint32_t log, uint32_t *v)
{
	const struct census *w = e->w;
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

static uint32_t log_of(const struct emitting *e, const struct note *n)
{
	return census_log(e->w, n->file);
}

/* How many lines each object has, and from there where they begin. */
static void count_lines(struct emitting *e)
{
	const struct told *t = e->w->told;
	size_t nr_objects = e->g->nr_objects;
	uint32_t v[MAX_NAMED];

	e->begin = shelf_zalloc(e->w->shelf, mem_bytes(nr_objects + 2, sizeof(*e->begin)));
	for (size_t i = 0; i < t->notes.nr; i++) {
		size_t nr = objects_of(e, i, log_of(e, &t->notes.v[i]), v);

		for (size_t j = 0; j < nr; j++)
			e->begin[v[j] + 2]++;
	}
	for (size_t i = 2; i < nr_objects + 2; i++)
		e->begin[i] += e->begin[i - 1];
	e->notes = shelf_alloc(e->w->shelf,
			       mem_bytes(e->begin[nr_objects + 1] + 1, sizeof(*e->notes)));
}

/* Where the next line of an object goes is begin[object + 1], which ends up where it shall be. */
static void take_note(struct emitting *e, uint32_t note)
{
	const struct note *n = &e->w->told->notes.v[note];
	uint32_t v[MAX_NAMED];
	size_t nr = objects_of(e, note, log_of(e, n), v);

	for (size_t i = 0; i < nr; i++)
		e->notes[e->begin[v[i] + 1]++] = note;
}

static void link_all_of(struct emitting *e, uint32_t note)
{
	const struct note *n = &e->w->told->notes.v[note];
	uint32_t v[MAX_NAMED];
	size_t nr = objects_of(e, note, log_of(e, n), v);

	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < i; j++)
			if (!is_above(e->g, v[i], v[j], MAX_DEPTH) &&
			    !is_above(e->g, v[j], v[i], MAX_DEPTH))
				link_objects(e, v[i], v[j], n);
}

static int by_first(const void *a, const void *b)
{
	const struct object_event *x = a, *y = b;

	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	if (x->log != y->log)
		return x->log < y->log ? -1 : 1;
	return (x->template > y->template) - (x->template <y->template);
}

/* Events of the object at hand, one for each template of a log. */
struct parts {
	VEC(struct object_event) v;
	struct map at; /* (log, template): number + 1, once there are many */
};

enum { FEW_PARTS = 12 };

static struct object_event *part_of(struct parts *p, const struct object_event *e)
{
	uint64_t *at;

	if (p->v.nr < FEW_PARTS) {
		vec_each (&p->v, old)
			if (old->template == e->template && old->log == e->log)
				return old;
		vec_push(&p->v, *e);
		p->v.v[p->v.nr - 1].count = 0;
		return &p->v.v[p->v.nr - 1];
	}
	for (size_t i = 0; i < p->v.nr && !p->at.nr; i++)
		*map_at(&p->at, map_pair(p->v.v[i].log, p->v.v[i].template)) = i + 1;
	at = map_at(&p->at, map_pair(e->log, e->template));
	if (!*at) {
		vec_push(&p->v, *e);
		p->v.v[p->v.nr - 1].count = 0;
		*at = p->v.nr;
	}
	return &p->v.v[*at - 1];
}

static void add_event(struct object *o, struct parts *p, const struct object_event *e)
{
	struct object_event *part = part_of(p, e);

	o->nr_events += e->count;
	if (e->level >= LEVEL_ERROR)
		o->nr_errors += e->count;
	part->count += e->count;
	if (e->first_ns < part->first_ns)
		part->first_ns = e->first_ns;
	if (e->last_ns > part->last_ns)
		part->last_ns = e->last_ns;
	if (e->level > part->level)
		part->level = e->level;
}

static void set_events(struct emitting *e)
{
	struct parts parts = { 0 };

	for (size_t i = 0; i < e->g->nr_objects; i++) {
		struct object *o = &e->g->objects[i];

		for (uint64_t j = e->begin[i]; j < e->begin[i + 1]; j++) {
			const struct note *n = &e->w->told->notes.v[e->notes[j]];
			struct object_event event = { n->first_ns, n->last_ns,   n->count,
						      n->template, log_of(e, n), n->level };

			add_event(o, &parts, &event);
		}
		o->nr_parts = parts.v.nr;
		o->events = arena_room(e->w->arena, mem_bytes(o->nr_parts, sizeof(*o->events)));
		if (o->nr_parts) {
			qsort(parts.v.v, parts.v.nr, sizeof(*parts.v.v), by_first);
			memcpy(o->events, parts.v.v, o->nr_parts * sizeof(*o->events));
		}
		vec_clear(&parts.v);
		if (parts.at.nr)
			map_clear(&parts.at);
	}
	vec_done(&parts.v);
	map_done(&parts.at);
}

static uint64_t pair_of(const void *record)
{
	const struct object_link *l = record;

	return map_pair(l->a, l->b);
}

static void find_links(struct emitting *e)
{
	for (uint32_t i = 0; i < e->w->told->notes.nr; i++)
		link_all_of(e, i);
	sort_records_on(e->w->shelf, e->links.v, e->links.nr, sizeof(*e->links.v), pair_of);
}

static void find_lines(struct emitting *e)
{
	count_lines(e);
	for (uint32_t i = 0; i < e->w->told->notes.nr; i++)
		take_note(e, i);
	set_events(e);
}

/* Links and events know nothing of each other; only events are laid down in the arena. */
static void find_part(void *ctx, uint32_t item)
{
	if (item)
		find_links(ctx);
	else
		find_lines(ctx);
}

static void set_links(struct emitting *e)
{
	e->g->nr_links = e->links.nr;
	e->g->links = arena_array(e->w->arena, struct object_link, e->links.nr);
	for (size_t i = 0; i < e->links.nr; i++)
		e->g->links[i] = e->links.v[i];
}

void emit_objects(const struct census *w, const struct relating *r, const struct stack *s,
		  const struct elders *elders, const uint32_t *type_of, struct object_graph *g)
{
	struct emitting e = {
		.w = w, .r = r, .s = s, .elders = elders, .type_of = type_of, .g = g
	};

	e.object_of = shelf_alloc(w->shelf, mem_bytes(w->things.nr + 1, sizeof(*e.object_of)));
	e.link_at.shelf = w->shelf;
	place_objects(&e);
	set_parents(&e);
	reduce_parents(g);
	set_aliases(&e);
	crew_run_with(w->told->notes.nr < FEW_NOTES ? 1 : 2, 2, find_part, &e);
	set_links(&e);
	shelf_give(w->shelf, e.object_of);
	shelf_give(w->shelf, e.thing_of);
	shelf_give(w->shelf, e.begin);
	shelf_give(w->shelf, e.notes);
	shelf_done(w->shelf, &e.links);
	map_done(&e.link_at);
}
