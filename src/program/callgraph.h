/* Which methods a method may call, and which it makes another thread run. */
#ifndef CULPRIT_PROGRAM_CALLGRAPH_H
#define CULPRIT_PROGRAM_CALLGRAPH_H

#include "program/program.h"

struct losses;

enum edge_kind {
	EDGE_CALL,
	EDGE_START,  /* runs in another thread: started, submitted, scheduled */
	EDGE_REMOTE, /* runs in another process: a call of a service, of a remote interface */
};

struct call_edge {
	uint32_t to; /* method */
	uint16_t pc;
	uint8_t kind;
};

/* A call that was left out, as it may lead to too many methods. */
struct wide_call {
	uint32_t from;
	uint32_t declared; /* the method as the call names it */
	uint16_t pc;
};

struct callgraph {
	const struct program *program;
	uint32_t *first; /* by method: edges[first[m]] up to edges[first[m + 1]], in the order of pc
			  */
	struct call_edge *edges;
	uint32_t *first_in; /* by method: who calls it, each caller once */
	uint32_t *in;
	uint8_t *in_kinds;          /* beside in: bits, 1 << enum edge_kind */
	bool *is_named;             /* by method: some call names it, wherever that leads */
	VEC(struct wide_call) wide; /* in the order of callers and code */
};

/*
 * By rapid type analysis: a virtual call leads to the methods of classes below of which objects are
 * made somewhere. A call with very many targets tells nothing and is left out (counted).
 */
void callgraph_init(struct callgraph *g, struct program *p, struct losses *losses);
void callgraph_done(struct callgraph *g);
/* Whether the caller at this position of in has such an edge. */
static inline bool callgraph_in_is(const struct callgraph *g, uint32_t position,
				   enum edge_kind kind)
{
	return g->in_kinds[position] >> kind & 1;
}

#define callgraph_each(g, method, e) \
	for (const struct call_edge *e = (g)->edges + (g)->first[method], \
				    *e##_end_ = (g)->edges + (g)->first[(method) + 1]; \
	     e < e##_end_; e++)

#endif
