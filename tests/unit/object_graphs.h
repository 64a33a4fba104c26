/* Graphs of objects made by tests: types and objects are added by name, and put in order at the
 * end. */
#ifndef CULPRIT_TESTS_OBJECT_GRAPHS_H
#define CULPRIT_TESTS_OBJECT_GRAPHS_H

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/time.h"
#include "base/vec.h"
#include "model/object.h"

#define GRAPH_START (1700000000LL * NS_S)

struct made_graph {
	struct arena arena;
	struct object_graph g;
	VEC(struct object_type) types;
	VEC(struct object_relation) relations;
	VEC(struct object) objects; /* added in the order of their types */
	VEC(struct object_link) links;
	VEC(struct str) templates;
	VEC(struct str) logs;
};

static inline void made_done(struct made_graph *m)
{
	arena_done(&m->arena);
	vec_done(&m->types);
	vec_done(&m->relations);
	vec_done(&m->objects);
	vec_done(&m->links);
	vec_done(&m->templates);
	vec_done(&m->logs);
}

/* One part of the signature: the name itself. */
static inline uint32_t made_type(struct made_graph *m, const char *name)
{
	struct object_type t = { .name = arena_str(&m->arena, str_of(name)),
				 .nr_signature = 1,
				 .is_in_graph = true };

	t.signature = arena_new(&m->arena, struct str);
	t.signature[0] = t.name;
	vec_push(&m->types, t);
	return (uint32_t)m->types.nr - 1;
}

static inline void made_relation(struct made_graph *m, uint32_t from, uint32_t to)
{
	vec_push(&m->relations, (struct object_relation){ .from = from,
							  .to = to,
							  .relation = RELATION_MANY,
							  .deed = DEED_CREATED,
							  .support = 10,
							  .exceptions = 1,
							  .is_in_graph = true,
							  .confidence = 0.95F });
}

/* Times in ms after GRAPH_START; parent UINT32_MAX for none. */
static inline uint32_t made_object(struct made_graph *m, uint32_t type, struct str id,
				   uint32_t parent, int64_t from_ms, int64_t to_ms)
{
	struct object o = { .type = type,
			    .first_ns = GRAPH_START + from_ms * NS_MS,
			    .last_ns = GRAPH_START + to_ms * NS_MS,
			    .nr_events = 2 };

	o.ids = arena_new(&m->arena, struct str);
	o.ids[0] = arena_str(&m->arena, id);
	if (parent != UINT32_MAX) {
		o.parents = arena_new(&m->arena, uint32_t);
		o.parents[0] = parent;
		o.nr_parents = 1;
	}
	vec_push(&m->objects, o);
	m->types.v[type].nr_objects++;
	return (uint32_t)m->objects.nr - 1;
}

static inline void made_event(struct made_graph *m, uint32_t object, int64_t from_ms, int64_t to_ms,
			      uint64_t count)
{
	struct object *o = &m->objects.v[object];
	struct object_event *events = arena_array(&m->arena, struct object_event, o->nr_parts + 1);

	if (o->nr_parts)
		memcpy(events, o->events, o->nr_parts * sizeof(*events));
	events[o->nr_parts++] = (struct object_event){ .first_ns = GRAPH_START + from_ms * NS_MS,
						       .last_ns = GRAPH_START + to_ms * NS_MS,
						       .count = count,
						       .level = LEVEL_INFO };
	o->events = events;
}

static inline const struct object_graph *made_end(struct made_graph *m)
{
	m->g = (struct object_graph){ .types = m->types.v,
				      .nr_types = m->types.nr,
				      .relations = m->relations.v,
				      .nr_relations = m->relations.nr,
				      .objects = m->objects.v,
				      .nr_objects = m->objects.nr,
				      .links = m->links.v,
				      .nr_links = m->links.nr,
				      .templates = m->templates.v,
				      .nr_templates = m->templates.nr,
				      .logs = m->logs.v,
				      .nr_logs = m->logs.nr };
	return &m->g;
}

#endif
