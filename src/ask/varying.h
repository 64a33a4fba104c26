/* The variance tree of one type of request of a run. */
#ifndef CULPRIT_ASK_VARYING_H
#define CULPRIT_ASK_VARYING_H

#include <stdbool.h>

#include "ask/types.h"
#include "ask/variance/spans.h"
#include "ask/variance/tree.h"

struct error;
struct request_filter;
struct store;

/* Zero is empty. */
struct varying {
	struct types types;
	uint32_t type;              /* TYPE_NONE: there is no request */
	int64_t p50, p99;           /* of its durations */
	struct variance_tree *tree; /* NULL until varying_see */
	struct variance_spans spans;
	bool whole_only;
	uint64_t round, nr_other_rounds; /* of a running program: which one is told, or 0 */
	uint64_t nr_seen, every;         /* every so many-th is looked at for amounts of work */
};

/* One pass over requests in brief: the type that adds most to the variance of all. */
int varying_collect(struct varying *v, struct store *s, const struct request_filter *f,
		    struct error *err);
void varying_done(struct varying *v);
/* How far the durations of a type are from their mean: the sum of squares. */
double varying_squares(const struct type_stat *t);
/* A few requests with their spans, to learn how steps are named: of this run or of another. */
int varying_learn(struct varying *v, const struct varying *of, struct store *s, struct error *err);
/* One pass over the requests of the type with all their spans. */
int varying_see(struct varying *v, struct store *s, struct error *err);

#endif
