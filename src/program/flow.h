/* The control flow of one method: blocks, what follows each, and where exceptions go. */
#ifndef CULPRIT_PROGRAM_FLOW_H
#define CULPRIT_PROGRAM_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "program/class.h"

#define NO_BLOCK UINT32_MAX

struct block {
	uint32_t from, to; /* pc, to is beyond */
	/* Positions in flow.edges; the exceptional ones follow the ordinary ones. */
	uint32_t first_next, nr_next, nr_handlers;
	uint32_t first_before, nr_before; /* in flow.before; exceptional edges as well */
	uint32_t order;                   /* in flow.walk, NO_BLOCK when never reached */
	uint32_t guard;                   /* of a handler: 1 + the guard that leads to it, else 0 */
};

/* Leads into a block. */
struct edge_in {
	uint32_t block;
	bool is_exceptional;
};

struct flow {
	struct block *blocks; /* in the order of pc */
	uint32_t nr;
	uint32_t *edges;
	struct edge_in *before;
	uint32_t *walk; /* reached blocks, each after those that lead to it but for loops */
	uint32_t nr_walk;
};

/* False when the code is damaged; nothing of it can be used then. */
bool flow_init(struct flow *f, const struct code *code, struct arena *a);
/* The block that begins at pc, or NO_BLOCK. */
uint32_t flow_block(const struct flow *f, uint32_t pc);

#endif
