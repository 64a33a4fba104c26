/* What changed between two runs: every difference with its size and its share of the whole. */
#ifndef CULPRIT_ASK_DIFF_CHANGES_H
#define CULPRIT_ASK_DIFF_CHANGES_H

#include "ask/contrast.h"
#include "ask/types.h"

struct error;
struct request_filter;
struct store;

#define CHANGES_MATTER 0.02 /* of the sizes of all changes: a smaller part is not told apart */

struct change {
	uint32_t type;
	const struct contrast_row *row; /* NULL for a whole type */
	double before, after;
	double weighed; /* what the mean request feels of it: times the weight of the type */
	double mixed;   /* the part of it that is not time but the mix */
	bool mix;
	double share;
	size_t place; /* keeps equal ones in a fixed order */
};

/* Zero is empty; asked is set by the caller. */
struct diff {
	struct arena arena;
	struct types types[SIDES];
	struct contrast contrast;
	struct names names; /* types of both runs; their numbers */
	enum contrast_side side;
	VEC(struct change) changes;
	bool asked[SIDES]; /* whether the run has the type that is asked for */
	bool cancelled;
};

void changes_done(struct diff *d);
int changes_collect(struct diff *d, struct store *const *runs, const struct request_filter *filters,
		    struct error *err);
/* Fills changes, the largest share first. by: 'h' hops, 'n' nodes, 't' types. */
void changes_compare(struct diff *d, char by);

#endif
