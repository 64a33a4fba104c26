/* Objects are made page by page, with their names and events, of what lines and numbers tell, and
 * are gone when the page was taken. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "infer/objects/census.h"
#include "infer/objects/emit.h"
#include "infer/objects/emitting.h"
#include "infer/objects/told.h"

enum {
	PAGE_OBJECTS = 4096,
	PAGE_PARTS = 65536, /* events; the last object may have more */
	PAGE_LINKS = 16384,
	FEW_PARTS = 12,
};

/* Events of the object at hand, one for each template of a log. */
struct parts {
	VEC(struct object_event) v;
	struct map at; /* (log, template): number + 1, once there are many */
};

struct telling {
	const struct emitting *e;
	struct arena arena; /* of the page */
	VEC(struct object) page;
	size_t nr_parts; /* of its objects */
	struct parts parts;
};

static int by_first(const void *a, const void *b)
{
	const struct object_event *x = a, *y = b;

	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	if (x->log != y->log)
		return x->log < y->log ? -1 : 1;
	return (x->template > y->template) - (x->template <y->template);
}

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

static void set_events(struct telling *t, size_t number, struct object *o)
{
	const struct emit_lists *l = &t->e->notes;
	const struct census *w = t->e->w;
	struct parts *parts = &t->parts;

	for (uint64_t j = l->at[number]; j < l->at[number + 1]; j++) {
		const struct note *n = &w->told->notes.v[l->v[j]];
		struct object_event event = {
			n->first_ns, n->last_ns, n->count, n->template, census_log(w, n->file),
			n->level
		};

		census_look(w, j);
		add_event(o, parts, &event);
	}
	o->nr_parts = parts->v.nr;
	o->events = arena_room(&t->arena, mem_bytes(o->nr_parts, sizeof(*o->events)));
	if (o->nr_parts) {
		qsort(parts->v.v, parts->v.nr, sizeof(*parts->v.v), by_first);
		memcpy(o->events, parts->v.v, o->nr_parts * sizeof(*o->events));
	}
	t->nr_parts += o->nr_parts;
	vec_clear(&parts->v);
	if (parts->at.nr)
		map_clear(&parts->at);
}

static void set_names(struct telling *t, size_t number, struct object *o)
{
	const struct census *w = t->e->w;
	const struct emit_lists *l = &t->e->aliases;
	uint32_t thing = t->e->thing_of[number];
	size_t nr = t->e->head.types[o->type].nr_signature;

	o->ids = arena_array(&t->arena, struct str, nr);
	for (size_t i = nr; i-- > 0;) {
		o->ids[i] = census_name(w, thing, &t->arena);
		thing = w->things.v[thing].scope ? w->things.v[thing].scope - 1 : thing;
	}
	nr = l->at[number + 1] - l->at[number];
	o->aliases = arena_array(&t->arena, struct str, nr);
	while (o->nr_aliases < nr) {
		uint32_t alias = l->v[l->at[number] + o->nr_aliases];

		o->aliases[o->nr_aliases++] = census_name(w, alias, &t->arena);
	}
}

static void set_parents(struct telling *t, size_t number, struct object *o)
{
	const struct emit_lists *l = &t->e->parents;

	o->parents = arena_array(&t->arena, uint32_t, l->at[number + 1] - l->at[number]);
	for (uint64_t i = l->at[number]; i < l->at[number + 1]; i++)
		if (l->v[i] != UINT32_MAX)
			o->parents[o->nr_parents++] = l->v[i];
}

static void add_object(struct telling *t, size_t number)
{
	const struct thing *thing = &t->e->w->things.v[t->e->thing_of[number]];
	struct object o = { .type = t->e->type_of[thing->kind],
			    .first_ns = thing->first_ns,
			    .last_ns = thing->last_ns };

	set_names(t, number, &o);
	set_parents(t, number, &o);
	set_events(t, number, &o);
	vec_push(&t->page, o);
}

static int tell_page(struct telling *t, const struct object_sink *sink, struct error *err)
{
	int r = sink->objects(sink->to, t->page.v, t->page.nr, err);

	vec_clear(&t->page);
	arena_reset(&t->arena);
	t->nr_parts = 0;
	return r;
}

static int tell_objects(struct telling *t, const struct object_sink *sink, struct error *err)
{
	size_t nr = t->e->head.nr_objects;
	int r = 0;

	for (size_t i = 0; i < nr && !r; i++) {
		census_look(t->e->w, i);
		add_object(t, i);
		if (t->page.nr == PAGE_OBJECTS || t->nr_parts >= PAGE_PARTS || i + 1 == nr)
			r = tell_page(t, sink, err);
	}
	return r;
}

static int tell_links(const struct emitting *e, const struct object_sink *sink, struct error *err)
{
	int r = 0;

	for (size_t first = 0; first < e->links.nr && !r; first += PAGE_LINKS) {
		size_t left = e->links.nr - first;

		r = sink->links(sink->to, e->links.v + first, left < PAGE_LINKS ? left : PAGE_LINKS,
				err);
	}
	return r;
}

int emit_tell(const struct emitting *e, const struct object_sink *sink, struct error *err)
{
	struct telling t = { .e = e };
	int r = sink->begin(sink->to, &e->head, err);

	if (!r)
		r = tell_objects(&t, sink, err);
	if (!r)
		r = tell_links(e, sink, err);
	if (!r)
		r = sink->end(sink->to, err);
	arena_done(&t.arena);
	vec_done(&t.page);
	vec_done(&t.parts.v);
	map_done(&t.parts.at);
	return r;
}
