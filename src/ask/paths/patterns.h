/* The patterns of a run: requests that called the same nodes in the same order, counted together,
 * with the time of every hop. */
#ifndef CULPRIT_ASK_PATHS_PATTERNS_H
#define CULPRIT_ASK_PATHS_PATTERNS_H

#include "ask/paths/calls.h"
#include "ask/paths/shapes.h"
#include "ask/paths/sketch.h"

/* One place of a pattern, over all requests; sums in ns. */
struct hop_stat {
	uint64_t nr; /* calls, several a request where equal ones are folded */
	double latency, self, delay;
	uint64_t nr_delays; /* of folded calls the first only: how long until they began */
	struct sketch latencies, selves;
};

struct pattern {
	uint32_t shape;
	uint32_t nr_hops;
	uint64_t first_hop; /* among the hop_stats */
	uint64_t count, errors;
	double total;      /* ns */
	double confidence; /* summed */
	struct sketch latencies;
};

/* Zero is a valid, empty set. */
struct patterns {
	struct names names; /* of nodes */
	struct shapes shapes;
	VEC(struct pattern) v;
	VEC(struct hop_stat) hops;
	VEC(uint32_t) of_shape; /* position + 1 in v */
	uint64_t nr_requests;
	uint64_t nr_without; /* requests that no span tells anything of */
	uint64_t nr_rare;    /* requests not among the patterns, because these are too many */
	double total;        /* ns, of all requests with a path */

	struct calls calls;         /* of the last request */
	VEC(uint32_t) call_shape;   /* and of each of its calls */
	VEC(uint32_t) call_hop;     /* the hop_stat of each */
	VEC(struct shape_kid) kids; /* of the call at hand */
};

#define PATTERN_HOPS_MOST ((size_t)1 << 19)

void patterns_done(struct patterns *p);
void patterns_add(struct patterns *p, const struct request *r, const struct request_body *body);
/* The path of the request that was added last, or would be: its shape. SHAPE_NONE: not kept. */
uint32_t patterns_shape(struct patterns *p, const struct request *r,
			const struct request_body *body);
/* The most time in all first. Positions in v, from malloc. */
uint32_t *patterns_ranked(const struct patterns *p);
/* The places of a shape that stands above roots, from malloc, and how many. */
struct shape_hop *patterns_hops(const struct patterns *p, uint32_t shape, size_t *nr);
/* Writes "WS1(AUTH(DB1),AP1(DB2))". */
void patterns_path(const struct patterns *p, uint32_t shape, struct buf *out);

void hop_stat_merge(struct hop_stat *to, const struct hop_stat *from);
void hop_stat_done(struct hop_stat *h);

#endif
