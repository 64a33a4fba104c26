/* The node of an object: its log, or the directories above it that are not about one object. */
#ifndef CULPRIT_ASK_OBJECT_NODE_H
#define CULPRIT_ASK_OBJECT_NODE_H

#include "model/object.h"

struct arena;
struct object_nodes;

/* The graph has events and texts, and outlives it; everything is in the arena. */
struct object_nodes *object_nodes_new(const struct object_graph *g, struct arena *a);
/* Empty when no line tells. */
struct str object_node(const struct object_nodes *n, uint32_t object);

#endif
