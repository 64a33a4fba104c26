/* All paths merged into one weighted graph: which node calls which, how often, after how long. */
#ifndef CULPRIT_ASK_PATHS_GRAPH_H
#define CULPRIT_ASK_PATHS_GRAPH_H

#include "ask/paths/calls.h"

struct report;

struct graph_edge {
	sym_t from, to; /* from 0: nobody knows who called */
	uint64_t nr;
	double latency, delay; /* ns, summed */
};

struct graph_node {
	sym_t name;
	uint64_t nr;
	double latency, self;
};

/* Zero is a valid, empty graph. */
struct graph {
	struct names names;
	VEC(struct graph_edge) edges;
	VEC(struct graph_node) nodes;
	VEC(uint32_t) of_name; /* position + 1 in nodes */
	uint32_t *slots;       /* open addressing over edges, 0 = free, else position + 1 */
	size_t nr_slots;
	struct calls calls;
	uint64_t nr_requests;
};

void graph_done(struct graph *g);
void graph_add(struct graph *g, const struct request *r, const struct request_body *body);
/* The table of nodes, where most time is spent first, and that of edges; at most so many rows each
 * (0: all). */
void graph_report(struct graph *g, struct report *report, size_t at_most);

#endif
