/* Objects of a run with their nearest parents and their children, and who is meant by a name. */
#ifndef CULPRIT_ASK_OBJECT_KIN_H
#define CULPRIT_ASK_OBJECT_KIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "model/object.h"

struct arena;
struct error;

/* A parent that is also above another parent (the application of the attempt of a container) is
 * left out: who draws or walks wants each object once below each way up. */
struct object_kin {
	const struct object_graph *g;
	uint32_t *parent_first, *parents; /* of object i: parents[parent_first[i]…] */
	uint32_t *child_first, *children; /* likewise, in the order of their first_ns */
};

/* The graph has instances and outlives it; everything is in the arena. */
void object_kin_init(struct object_kin *k, const struct object_graph *g, struct arena *a);

static inline size_t object_nr_parents(const struct object_kin *k, uint32_t i)
{
	return k->parent_first[i + 1] - k->parent_first[i];
}

static inline size_t object_nr_children(const struct object_kin *k, uint32_t i)
{
	return k->child_first[i + 1] - k->child_first[i];
}

static inline bool object_has_time(const struct object *o)
{
	return o->first_ns != INT64_MIN && o->last_ns >= o->first_ns;
}

/* Everything at and below the object, each once, parents before children: an array in the arena.
 */
uint32_t *object_below(const struct object_kin *k, uint32_t root, size_t *nr, struct arena *a);
/* Whether one is an ancestor of the other, by all parents and not only the nearest. */
bool object_is_above(const struct object_graph *g, uint32_t above, uint32_t below);
/* The first ancestor of that type, the nearest first; UINT32_MAX for none. */
uint32_t object_above_of_type(const struct object_graph *g, uint32_t of, uint32_t type);

/* "container_17_0001", "container_17_0001+3" */
void object_name(const struct object_graph *g, const struct object *o, struct buf *b);
/* By one of its ids, by another name of it, or by all ids joined with +, with or without the type
 * in front ("stage 3"): 0 and the object, or a sentence that lists the candidates. */
int object_find(const struct object_graph *g, struct str name, uint32_t *found, struct error *err);
/* A type by its name or by a part that only one has: 0, or a sentence with the candidates. */
int object_find_type(const struct object_graph *g, struct str part, uint32_t *found,
		     struct error *err);

#endif
