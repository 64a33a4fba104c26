/* The result: kinds as types, things as objects with their parents, events and links. */
#ifndef CULPRIT_INFER_OBJECTS_EMIT_H
#define CULPRIT_INFER_OBJECTS_EMIT_H

#include <stdint.h>

struct elders;
struct object_graph;
struct relating;
struct stack;
struct census;

/* Everything in w->arena. before: relations from before identifiers were combined. */
void emit_graph(const struct census *w, const struct relating *before, const struct relating *r,
		const struct stack *s, struct object_graph *g);

/* For emit_graph: the objects, by type; type_of by kind, UINT32_MAX for none. */
void emit_objects(const struct census *w, const struct relating *r, const struct stack *s,
		  const struct elders *elders, const uint32_t *type_of, struct object_graph *g);

#endif
