/* Which nodes requests cross, as numbers: requests of one sort cross the same ones, so that a set
 * of nodes is kept once. */
#ifndef CULPRIT_STORE_NODESETS_H
#define CULPRIT_STORE_NODESETS_H

#include "base/buf.h"
#include "base/names.h"
#include "base/vec.h"
#include "model/request.h"

/* Sets beyond so many are not kept; what stands for them from here on is a mask of their nodes. */
#define NODESET_MASK (1u << 12)
#define NODESET_BITS 48
#define NODESET_UNKNOWN (NODESET_MASK + ((uint64_t)1 << NODESET_BITS) - 1)

enum nodeset_has { NODESET_NO, NODESET_YES, NODESET_MAYBE /* the body tells */ };

/* Zero is valid and empty; set 0 is the one without nodes. */
struct nodesets {
	struct names nodes; /* from 1 */
	struct names sets;  /* each as the varints of its nodes, ascending */
	VEC(uint64_t) seen; /* by node: the last body that crossed it */
	VEC(sym_t) found;
	struct buf packed;
	uint64_t nr_bodies;
};

void nodesets_done(struct nodesets *n);
/* The number of the set of a body. */
uint64_t nodesets_of(struct nodesets *n, const struct request_body *body);

void nodesets_add(struct buf *to, const struct nodesets *n);
bool nodesets_take(struct str *from, struct nodesets *n);
/* Whether the set holds the node; 0 is one that no set has. */
enum nodeset_has nodesets_has(const struct nodesets *n, uint64_t set, sym_t node);

#endif
