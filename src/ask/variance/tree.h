/*
 * The variance tree: how much of the variance of all intervals comes from each function below each
 * other, as variances and covariances that add up to the whole.
 *
 * A stream of intervals, each a tree of times; sums of products are kept, exact, and a bounded
 * sample of intervals. Same intervals in the same order: same answer.
 */
#ifndef CULPRIT_ASK_VARIANCE_TREE_H
#define CULPRIT_ASK_VARIANCE_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct variance_tree;

/* An amount of work by its name: rows, bytes, an argument. */
struct variance_work {
	struct str name;
	double amount;
};

/* Time of one interval at one node of the tree; parents before children. Where children take less
 * than their parent, the rest is a child "body:F" of the function F; where F has no children in
 * any interval, it is a leaf itself. */
struct variance_part {
	uint32_t parent; /* position; UINT32_MAX for the root */
	struct str name; /* the same below the same parent: the same node */
	int64_t ns;
	int64_t wait_ns[8]; /* of it, by enum wait_why, what is below included */
	double work;        /* an amount of work that goes with it; NAN for none */
	uint32_t nr_calls;
	uint32_t site; /* where it was called: another one is another node; 0: not told */
	const struct variance_work *works; /* more amounts */
	size_t nr_works;
};

/* Durations of the slowest and of the usual intervals, where they are known before: what tells
 * these apart is exact then, instead of being of the sample. */
struct variance_bands {
	int64_t slow_from, usual_from, usual_until; /* all inclusive */
};

struct variance_counts {
	uint64_t nr;         /* intervals */
	uint64_t nr_folded;  /* parts that fell in with others: too many different ones, too deep */
	uint64_t nr_uneven;  /* intervals in which children took longer than their parent */
	uint64_t nr_refused; /* intervals that were longer than 63 bits of ns */
	uint64_t nr_kept;    /* in the sample */
};

#define VARIANCE_CHILDREN_MAX 256
#define VARIANCE_DEPTH_MAX 64

struct variance_tree *variance_tree_new(void);
void variance_tree_free(struct variance_tree *t);
/* Before the first interval: how many are kept as a sample (16384 unless told). */
void variance_tree_keep(struct variance_tree *t, size_t nr);
void variance_tree_bands(struct variance_tree *t, const struct variance_bands *b);
/* One interval. */
void variance_tree_add(struct variance_tree *t, const struct variance_part *v, size_t nr);
void variance_tree_count(const struct variance_tree *t, struct variance_counts *c);

#endif
