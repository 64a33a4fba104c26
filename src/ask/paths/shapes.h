/* Trees of nodes, each different one kept once under a number: "WS1(AUTH(DB1),AP1(DB2))". */
#ifndef CULPRIT_ASK_PATHS_SHAPES_H
#define CULPRIT_ASK_PATHS_SHAPES_H

#include <stdint.h>

#include "base/buf.h"
#include "base/names.h"
#include "base/vec.h"

#define SHAPE_NONE UINT32_MAX
#define SHAPE_FOLD 4 /* so many equal calls in a row are told as one, "DB1*4" */
#define SHAPE_ROOT 0 /* the node of the shape that stands above the roots of a request */

struct shape_kid {
	uint32_t shape;
	uint32_t times; /* 1, or SHAPE_FOLD and more */
};

struct shape {
	sym_t node;
	uint32_t nr_hops; /* itself and all below, what is folded counted once */
	uint64_t first;   /* of its kids */
	uint32_t nr_kids;
	uint64_t hash;
};

/* Zero is a valid, empty set. */
struct shapes {
	VEC(struct shape) v;
	VEC(struct shape_kid) kids;
	uint32_t *slots; /* open addressing over v, 0 = free, else position + 1 */
	size_t nr_slots;
};

/* One place in a tree, in the order in which the path names them. */
struct shape_hop {
	sym_t node;
	uint32_t depth;  /* 0 for a root */
	uint32_t parent; /* position of its caller, or SHAPE_NONE */
	uint32_t times;
};

void shapes_done(struct shapes *s);
/* The number of this tree; SHAPE_NONE when it is new and there is no more room (SHAPES_MOST). */
uint32_t shapes_add(struct shapes *s, sym_t node, const struct shape_kid *kids, uint32_t nr);
/* Fills the nr_hops - 1 places below a shape of node SHAPE_ROOT. */
void shapes_hops(const struct shapes *s, uint32_t root, struct shape_hop *hops);
/* Writes the path of such places; a name with a mark of the path in it stands in double quotes. */
void shapes_path(const struct shape_hop *hops, size_t nr, const struct str *names, struct buf *out);

#define SHAPES_MOST ((size_t)1 << 22)

#endif
