/* Finds for every message the message that caused it, by following delays that recur. */
#ifndef CULPRIT_INFER_CONVOLVE_FOLLOW_H
#define CULPRIT_INFER_CONVOLVE_FOLLOW_H

#include "infer/convolve/spikes.h"
#include "infer/convolve/traffic.h"

struct follow_options {
	int64_t quantum_ns; /* mu of the paper; 0: from the length of the trace */
	double tolerance;   /* v of the paper, as a part of the width of a spike */
	struct spike_options spikes;
	uint32_t least;           /* a path of fewer messages is noise */
	double least_share;       /* and so is one of a smaller part of the messages before it */
	bool (*is_stopped)(void); /* asked now and then, true: leave off; may be NULL */
};

#define FOLLOW_DEFAULTS \
	{ .tolerance = 0.5, .spikes = SPIKE_DEFAULTS, .least = 6, .least_share = 0.01 }

/* What was found, for tests and those who want to see the graph of the paper. */
struct vertex {
	uint32_t route;
	uint32_t parent; /* the vertex before, or SENT_NONE */
	uint32_t depth;
	uint64_t nr;   /* messages */
	double delay;  /* ns after the message before, mean */
	double spread; /* its standard deviation */
};

struct followed {
	VEC(struct vertex) v; /* a parent stands before its children */
	int64_t quantum_ns;
	uint64_t nr_correlations;
	uint64_t nr_skipped; /* pairs of routes that were too many */
	bool is_stopped;     /* nothing was decided */
};

/* Sets cause, confidence and placed of every message that it can. The traffic is settled. */
void follow(struct traffic *t, const struct follow_options *o, struct followed *f);
void followed_done(struct followed *f);

#endif
