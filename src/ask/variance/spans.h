/* The tree of times of a request: its spans along the critical path, every nanosecond once. */
#ifndef CULPRIT_ASK_VARIANCE_SPANS_H
#define CULPRIT_ASK_VARIANCE_SPANS_H

#include <stdbool.h>

#include "ask/variance/tree.h"
#include "base/arena.h"
#include "base/names.h"
#include "base/vec.h"
#include "model/request.h"

/* On which nodes a step of this name is done. */
struct step_nodes {
	VEC(sym_t) v;
	uint64_t nr_requests, nr_distinct; /* that have it, and nodes in each of these together */
	uint64_t seen_request;
	uint32_t seen; /* nodes of the request being looked at begin here */
	VEC(sym_t) now;
	bool is_apart;
};

/* Zero is ready. */
struct variance_spans {
	struct arena arena;
	struct names names, nodes;
	VEC(struct step_nodes) steps; /* by name */
	uint64_t nr_learned;
	VEC(struct variance_part) parts; /* of the last request */
	uint32_t *part_of;               /* by span */
	int64_t *self;
};

void variance_spans_done(struct variance_spans *s);
/* Some requests are looked at before: a name that several nodes have in one request is told with
 * its node, one that goes from node to node (replicas) without. */
void variance_spans_learn(struct variance_spans *s, const struct request_body *body);
void variance_spans_learned(struct variance_spans *s);
/* Fills parts with what was measured of the request where it was made from a running program; false
 * where it was not. */
bool variance_spans_measured(struct variance_spans *s, const struct request *r,
			     const struct request_body *body);
/* Fills parts; they add up to the duration of the request. with_works: amounts as well. */
void variance_spans_make(struct variance_spans *s, const struct request *r,
			 const struct request_body *body, bool with_works);

#endif
