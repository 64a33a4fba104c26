/* What an aggregate has seen so far; two halves can be put together (the Combine of the paper). */
#ifndef CULPRIT_QUERY_TOTAL_H
#define CULPRIT_QUERY_TOTAL_H

#include "base/vec.h"
#include "query/ast.h"
#include "query/value.h"

struct weighted {
	struct value value;
	uint64_t times;
};

/* Zero has seen nothing. */
struct total {
	uint64_t nr; /* values that are not null */
	struct value sum, least, most;
	VEC(struct weighted) all; /* PERCENTILE and HISTOGRAM only, which need every value */
};

void total_done(struct total *t);
/* Whether halves are small whatever they have seen: it can be packed. */
bool aggregate_is_small(enum aggregate f);
/* A value that was seen so many times; false where it is no number and has to be one. */
bool total_add(struct total *t, enum aggregate f, struct value v, uint64_t times,
	       const struct names *names);
void total_combine(struct total *t, const struct total *half, uint64_t times,
		   const struct names *names);
/* Not of HISTOGRAM. Reorders what it holds. */
struct value total_value(struct total *t, const struct expr *aggregate, const struct names *names);

/* Powers of two: values from (inclusive) to (exclusive). */
struct bucket {
	double from, to;
	uint64_t nr;
};
struct buckets {
	VEC(struct bucket) v;
	double sum; /* of the values */
};
/* Forgets what was there. */
void total_buckets(struct total *t, struct buckets *b, const struct names *names);

#endif
