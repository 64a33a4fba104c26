/* Which logged values stay the same while a request is worked on, and the methods where that work
 * begins. */
#ifndef CULPRIT_PROGRAM_IDENTIFIERS_H
#define CULPRIT_PROGRAM_IDENTIFIERS_H

#include "program/callgraph.h"
#include "program/logpoints.h"
#include "program/scope.h"

/* A value that a method and what it calls log without changing it. */
struct identifier {
	struct path path; /* of the method that the summary is of */
	uint32_t count;   /* how often it is logged */
};

struct summary {
	struct identifier *ids; /* the most logged first */
	uint32_t nr;
	uint32_t total;       /* of all counts, those of values made here included */
	struct path *changed; /* what is written to, reachable from parameters */
	uint32_t nr_changed;
	bool is_known; /* of a method that does not speak: what it changes was looked for */
};

/* Why a method is where a request begins. */
enum top_why {
	TOP_NOT,
	TOP_DROP,   /* its callers change what it logs: the count of identifiers drops */
	TOP_START,  /* another thread runs it */
	TOP_ROOT,   /* what calls it is not given: a main, a callback, an override of something
		       foreign */
	TOP_REMOTE, /* it answers a call of another process */
	TOP_REST,   /* nothing else is known to lead to what it logs */
};

struct components;

struct identifiers {
	struct arena arena;
	uint32_t *points_first; /* by method: its log points, in the order of code */
	bool *speaks;           /* by method: it or what it calls logs */
	struct summary *of;     /* by method; without ids for those that do not speak */
	uint8_t *top;           /* by method: enum top_why */
	VEC(uint32_t) tops;     /* methods, in order */
	bool *is_common; /* by method: much of all work passes through it; no part of any order */
};

/* The ordinary calls between methods that speak, as components: callees first. */
void identifiers_components(const struct identifiers *i, const struct callgraph *g,
			    struct components *c);

/* A value of a callee as one of the caller, by the argument that it came with; ROOT_LOCAL when the
 * caller makes it. is_change: it is written to there. */
struct path identifiers_in_caller(const struct path *of, struct where call, bool is_change,
				  struct arena *a);

void identifiers_find(struct identifiers *i, const struct callgraph *g,
		      const struct log_points *points);
void identifiers_done(struct identifiers *i);

#endif
