/* Which methods a method may call, and which it makes another thread run. */
#ifndef CULPRIT_PROGRAM_CALLGRAPH_H
#define CULPRIT_PROGRAM_CALLGRAPH_H

#include "program/program.h"

struct losses;

enum edge_kind {
	EDGE_CALL,
	EDGE_START, /* runs in another thread: started, submitted, scheduled */
};

struct call_edge {
	uint32_t to; /* method */
	uint16_t pc;
	uint8_t kind;
};

struct callgraph {
	const struct program *program;
	uint32_t *first; /* by method: edges[first[m]] up to edges[first[m + 1]], in the order of pc
			  */
	struct call_edge *edges;
	uint32_t *first_in; /* by method: who calls it, each caller once */
	uint32_t *in;
};

/*
 * By rapid type analysis: a virtual call leads to the methods of classes below of which objects are
 * made somewhere. A call with very many targets tells nothing and is left out (counted).
 */
void callgraph_init(struct callgraph *g, struct program *p, struct losses *losses);
void callgraph_done(struct callgraph *g);

#define callgraph_each(g, method, e) \
	for (const struct call_edge *e = (g)->edges + (g)->first[method], \
				    *e##_end_ = (g)->edges + (g)->first[(method) + 1]; \
	     e < e##_end_; e++)

#endif
