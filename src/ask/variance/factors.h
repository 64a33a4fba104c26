/*
 * What a variance tree answers: which functions, and which pairs of them, the variance comes from,
 * the most telling first; how sure that is; what the slowest intervals have; and what if.
 */
#ifndef CULPRIT_ASK_VARIANCE_FACTORS_H
#define CULPRIT_ASK_VARIANCE_FACTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "model/call.h"

struct variance_tree;

#define VARIANCE_INHERENT 0.7 /* so much of a variance that goes with work is of the work */

/* How the slowest intervals differ from the usual ones; ns in the mean. */
struct variance_tail {
	double slow, usual;
	double share; /* of the difference; all leaves add up to 1 */
};

/* A leaf by its name wherever it stands, or a pair of siblings. */
struct variance_factor {
	struct str name[2]; /* the second is empty but for a covariance */
	struct str path;    /* of its largest place: names from the root, " > " between */
	double share;       /* of the variance of the whole; all add up to 1 */
	double low, high;   /* where it is in 95 of 100 draws; NAN: cannot be told */
	bool is_noise;      /* may be below what was asked for at least */
	double contribution;
	unsigned height;
	double specificity, score;
	size_t nr_places;
	double mean, sd;        /* ns in an interval; 0 for a pair */
	double waits[NR_WAITS]; /* the share of its variance that is in waiting */
	double waited;          /* of its time, the share that is waiting */
	double work;            /* the share of its variance that goes with an amount … */
	struct str work_name;   /* … of this; "calls" for how often it was called */
	bool is_inherent;
	struct variance_tail tail;
	bool has_if;
	double variance_if, sd_if; /* of the whole if this were constant: a share, ns … */
	int64_t p99_if;            /* … and at its median */
	double *if_p99, *if_sd;    /* with nothing, a step more, … all of its variation; or NULL */
	uint32_t node;             /* of its largest place */
};

struct variance_place {
	struct str name;
	uint32_t parent; /* UINT32_MAX for the root; always before */
	unsigned depth, height;
	size_t nr_children;
	double of_variance; /* its variance as a share of that of the whole */
	double explains;    /* the share of the variance of the whole that goes with it: its
			       covariance with the whole; siblings add up to their parent */
	double mean, sd;
	double calls; /* in an interval, in the mean */
	double waits[NR_WAITS];
	struct variance_tail tail;
	bool is_inner;
	double specificity, score;
};

struct variance_answer {
	uint64_t nr;
	struct str name;
	double mean, sd, variance; /* ns, ns² */
	int64_t p50, p99;
	double slow_mean, usual_mean; /* of the slowest hundredth, of the middle tenth */
	uint64_t nr_slow, nr_usual;
	unsigned height;
	uint64_t nr_kept; /* intervals that p50, p99 and what-if are of */
	struct variance_factor *factors;
	size_t nr_factors;
	struct variance_place *places; /* in order of the tree, the largest child first */
	size_t nr_places;
};

struct variance_options {
	bool sites;         /* each place by itself */
	double min_share;   /* below which a factor is not worth telling: 0.01 */
	size_t nr_what_if;  /* factors that are supposed to be constant */
	size_t nr_steps;    /* between constant and as it is, told of these; 0: none */
	struct str what_if; /* also if it is none of the first; empty: none */
};

/* All of it in the arena; the tree goes on as before. */
void variance_answer(const struct variance_tree *t, const struct variance_options *o,
		     struct arena *arena, struct variance_answer *a);

/* The whole if a factor varied less: only this part of its distance from its median is left. */
struct variance_if {
	double kept;
	double mean, sd;
	int64_t p50, p99;
};
/* False where no factor has this name. */
bool variance_what_if(const struct variance_tree *t, struct str name, double kept, bool at_mean,
		      struct variance_if *out);

#endif
