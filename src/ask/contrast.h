/* Compares two sets of requests of each type hop by hop: where the one set spends the time that the
 * other does not. */
#ifndef CULPRIT_ASK_CONTRAST_H
#define CULPRIT_ASK_CONTRAST_H

#include "ask/strata.h"

struct hop_sum {
	double ns[SIDES];   /* on the critical path */
	double busy[SIDES]; /* the spans' own durations, on the path or not */
	uint64_t requests[SIDES], spans[SIDES];
	bool looked_at, message; /* message: known from one, by its first span */
};

/* Some requests of a set, kept for drawing lots. */
struct contrast_sample {
	VEC(struct breakdown_part) parts;
	VEC(size_t) ends;  /* of each request's parts */
	VEC(uint64_t) ids; /* of the requests */
};

struct contrast_set {
	uint64_t nr[SIDES];
	double ns[SIDES];
	struct contrast_sample sample[SIDES];
};

/* Zero is empty. */
struct contrast {
	struct hops hops;
	VEC(struct hop_sum) sums;      /* by hop */
	VEC(struct contrast_set) sets; /* by type */
	struct strata strata;
	struct breakdown split; /* of the request that was added last */
	VEC(uint32_t) row_of;   /* by hop, while one type is answered */
};

void contrast_done(struct contrast *c);
/* Adds one request; keep also holds it for contrast_confidence. */
void contrast_add(struct contrast *c, uint32_t type, enum contrast_side side, bool keep,
		  const struct request *r, const struct request_body *body);

/* One line of the answer: a hop, or a node (hop HOP_NONE). */
struct contrast_row {
	uint32_t hop;
	sym_t node;
	double mean[SIDES]; /* ns per request of the set */
	double delta, share;
	struct strata_change change; /* of a node: own is that of a visit, calls are visits */
	double confidence; /* that the difference has this sign; negative when it was not asked */
	uint64_t requests[SIDES], spans[SIDES];
};

struct contrast_answer {
	struct contrast_row *hops, *nodes; /* largest share first; the shares of each add up to 1 */
	size_t nr_hops, nr_nodes;
	double mean[SIDES];
	double confidence; /* that hops[0] is the largest contributor */
};

/* Needs both sides to hold requests of the type. */
void contrast_answer(struct contrast *c, uint32_t type, struct arena *arena,
		     struct contrast_answer *out);
/* Fills the confidences by drawing the kept requests again and again. */
void contrast_confidence(struct contrast *c, uint32_t type, struct arena *arena,
			 struct contrast_answer *a);
/* What to show of a row for both sides, in ns: of a hop that requests call once, what it has of the
 * critical path; of others that became slower, what one call takes itself (*by_call is set); of
 * those that are called more or less often, what all calls of a request have of the critical path.
 */
const double *contrast_took(const struct contrast_row *row, bool *by_call);
/* Of the requests of the other side that were kept, those that the hop held up longest, the longest
 * first; how many. */
size_t contrast_witnesses(const struct contrast *c, uint32_t type, uint32_t hop, uint64_t *ids,
			  size_t most);
/* How far so few requests can be trusted: 0.5 for one, towards 1 for many. */
double contrast_trust(uint64_t nr);

#endif
