/* The tree of hops: a hop is a span's name and node below its parent's hop, so that the same step
 * of many requests has one number. */
#ifndef CULPRIT_ASK_HOPS_H
#define CULPRIT_ASK_HOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/names.h"
#include "base/vec.h"

#define HOP_NONE UINT32_MAX

struct hop {
	uint32_t parent; /* HOP_NONE for the hop of a type, which stands above its roots */
	uint32_t type;   /* the number that the caller gave the type */
	sym_t node, name;
	uint32_t depth;
	uint32_t nr_children;
	uint32_t top;  /* the hop of its type */
	uint32_t next; /* another hop of the type; they begin at top and end with HOP_NONE */
};

/* Zero is a valid, empty tree. */
struct hops {
	struct names names;
	VEC(struct hop) v;
	uint32_t *slots; /* open addressing over v, 0 = free, else position + 1 */
	size_t nr_slots;
};

void hops_done(struct hops *h);
/* The hop above the roots of a type: what happens in no span is there. */
uint32_t hops_type(struct hops *h, uint32_t type);
/* The hop of that node and name below parent, whichever replica of its service the parent ran on.
 * Below HOPS_DEPTH, and beyond HOPS_WIDTH different
 * ones under one parent, further hops are folded. */
uint32_t hops_below(struct hops *h, uint32_t parent, struct str node, struct str name);
/* Whether the hop is on another node than its parent: a call came in. */
bool hops_enters(const struct hops *h, uint32_t hop);
struct str hops_node(const struct hops *h, uint32_t hop);
struct str hops_name(const struct hops *h, uint32_t hop);
/* "frontend:GET /cart > cart:load > redis:GET", a node named where it changes; where calls have no
 * other name, "client → frontend → cart". */
void hops_path(const struct hops *h, uint32_t hop, struct buf *out);

#define HOPS_DEPTH 64
#define HOPS_WIDTH 1000

#endif
