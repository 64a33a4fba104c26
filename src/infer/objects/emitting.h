/* What is known of objects before they are handed out: which there are, and for each of them its
 * parents, its other names and its lines, as numbers on the shelf. The files of emit.h share it. */
#ifndef CULPRIT_INFER_OBJECTS_EMITTING_H
#define CULPRIT_INFER_OBJECTS_EMITTING_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/object.h"

struct census;
struct elders;
struct note;
struct relating;
struct stack;

enum {
	MAX_NAMED = 96, /* objects of one line */
	MAX_DEPTH = 6,
};

/* Numbers by object: those of object i stand from at[i] on, up to at[i + 1]. */
struct emit_lists {
	uint64_t *at; /* one more */
	uint32_t *v;
};

struct emitting {
	const struct census *w;
	const struct relating *r;
	const struct stack *s;
	const struct elders *elders;
	struct object_graph head;  /* without its objects and links; in w->arena */
	uint32_t *type_of;         /* by kind, UINT32_MAX for none */
	uint32_t *object_of;       /* by thing, UINT32_MAX for none */
	uint32_t *thing_of;        /* by object */
	struct emit_lists parents; /* objects; UINT32_MAX fills up for those that others imply */
	struct emit_lists aliases; /* things that are names of it; empty where there are none */
	struct emit_lists notes;   /* lines, in their order */
	VEC(struct object_link) links;
};

/* emit_objects.c */
void emit_find_objects(struct emitting *e);
/* The objects of a line: what it names, and what its log is the log of. v has room for MAX_NAMED.
 */
size_t emit_objects_of(const struct emitting *e, uint32_t note, uint32_t *v);
/* Whether one is above the other; hierarchies are flat, so this ends soon. */
bool emit_is_above(const struct emitting *e, uint32_t above, uint32_t below, int depth);
void emit_objects_done(struct emitting *e);

/* emit_links.c: by their objects. */
void emit_find_links(struct emitting *e);

#endif
