/* Puts a graph of objects that is handed over part by part together again. */
#ifndef CULPRIT_TESTS_GATHERED_H
#define CULPRIT_TESTS_GATHERED_H

#include <string.h>

#include "base/arena.h"
#include "base/vec.h"
#include "model/object.h"

struct gathered {
	struct arena arena;
	struct object_graph g; /* all of it, once it ended */
	size_t nr_parts;       /* in which objects came */
	size_t max_part;       /* objects of the largest */
	VEC(struct object) objects;
	VEC(struct object_link) links;
};

static inline void *gathered_copy(struct gathered *t, const void *from, size_t bytes)
{
	return bytes ? memcpy(arena_room(&t->arena, bytes), from, bytes) : NULL;
}

static inline struct str *gathered_strs(struct gathered *t, const struct str *from, size_t nr)
{
	struct str *v = arena_array(&t->arena, struct str, nr);

	for (size_t i = 0; i < nr; i++)
		v[i] = arena_str(&t->arena, from[i]);
	return v;
}

static inline int gathered_begin(void *to, const struct object_graph *head, struct error *err)
{
	struct gathered *t = to;
	struct object_graph *g = &t->g;

	(void)err;
	*g = *head;
	g->types = gathered_copy(t, head->types, g->nr_types * sizeof(*g->types));
	for (size_t i = 0; i < g->nr_types; i++) {
		struct object_type *type = &g->types[i];

		type->name = arena_str(&t->arena, type->name);
		type->signature = gathered_strs(t, type->signature, type->nr_signature);
		type->aliases = gathered_strs(t, type->aliases, type->nr_aliases);
	}
	g->relations = gathered_copy(t, head->relations, g->nr_relations * sizeof(*g->relations));
	g->templates = gathered_strs(t, head->templates, g->nr_templates);
	g->logs = gathered_strs(t, head->logs, g->nr_logs);
	return 0;
}

static inline int gathered_objects(void *to, const struct object *v, size_t nr, struct error *err)
{
	struct gathered *t = to;

	(void)err;
	t->nr_parts++;
	t->max_part = nr > t->max_part ? nr : t->max_part;
	for (size_t i = 0; i < nr; i++) {
		struct object o = v[i];

		o.ids = gathered_strs(t, o.ids, t->g.types[o.type].nr_signature);
		o.aliases = gathered_strs(t, o.aliases, o.nr_aliases);
		o.parents = gathered_copy(t, o.parents, o.nr_parents * sizeof(*o.parents));
		o.events = gathered_copy(t, o.events, o.nr_parts * sizeof(*o.events));
		vec_push(&t->objects, o);
	}
	return 0;
}

static inline int gathered_links(void *to, const struct object_link *v, size_t nr,
				 struct error *err)
{
	struct gathered *t = to;

	(void)err;
	for (size_t i = 0; i < nr; i++)
		vec_push(&t->links, v[i]);
	return 0;
}

static inline int gathered_end(void *to, struct error *err)
{
	struct gathered *t = to;

	(void)err;
	t->g.objects = t->objects.v;
	t->g.links = t->links.v;
	return t->objects.nr == t->g.nr_objects && t->links.nr == t->g.nr_links ? 0 : -1;
}

static inline struct object_sink gathered_sink(struct gathered *t)
{
	return (struct object_sink){ t, gathered_begin, gathered_objects, gathered_links,
				     gathered_end };
}

static inline void gathered_done(struct gathered *t)
{
	arena_done(&t->arena);
	vec_done(&t->objects);
	vec_done(&t->links);
	*t = (struct gathered){ 0 };
}

#endif
