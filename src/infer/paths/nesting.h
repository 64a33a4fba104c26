/* The paper's nesting algorithm: each call goes to the likeliest open call around it, one by one.
 */
#ifndef CULPRIT_INFER_PATHS_NESTING_H
#define CULPRIT_INFER_PATHS_NESTING_H

#include "infer/paths/calls.h"

struct nesting_options {
	double overlapping, same, any; /* the penalties x, y, z */
	int64_t skew_ns;               /* how much earlier than its parent a child may seem */
	double smooth_bins;            /* width of the smoothing of the scoreboard; 0 for none */
};

/* What the paper found best across its workloads. */
#define NESTING_DEFAULTS { .overlapping = 2 }

/* Fills parent and confidence of every call of the window that is not decided. */
void nesting_run(struct window *w, const struct nesting_options *o);
/* The same for the calls that one node makes. */
void nesting_node(struct window *w, const struct nesting_options *o, const struct sides *s,
		  uint32_t node);

#endif
