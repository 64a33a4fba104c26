/* A plain directed graph in two arrays, and its strongly connected components. */
#ifndef CULPRIT_PROGRAM_GRAPH_H
#define CULPRIT_PROGRAM_GRAPH_H

#include <stdint.h>

struct graph {
	uint32_t nr;
	const uint32_t *first; /* by node: to[first[n]] up to to[first[n + 1]] */
	const uint32_t *to;
};

/* A node and the ones it shares a circle with. */
struct components {
	uint32_t *of;    /* by node: its component; those that it leads to have lower numbers */
	uint32_t *order; /* nodes, component by component, from the first on */
	uint32_t nr;     /* components */
};

void components_find(struct components *c, const struct graph *g);
void components_done(struct components *c);

#endif
