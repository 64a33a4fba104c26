/* What a reducer does: records of chains (shuffle.h), in order, become records of requests, which
 * merge.h puts together. */
#ifndef CULPRIT_INFER_REQUESTS_REDUCE_H
#define CULPRIT_INFER_REQUESTS_REDUCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct error;
struct losses;
struct matcher;
struct reducer;

/* Who takes records, without ends of lines. */
struct reducer_out {
	void *to;
	int (*line)(void *to, struct str record, struct error *err);
};

struct reducer *reducer_new(const struct matcher *m, const struct reducer_out *out);
void reducer_free(struct reducer *r);
/* The next record. Those of one chain come one after the other, sorted. */
int reducer_add(struct reducer *r, struct str record, struct error *err);
/* Fails when the last chain is not whole. */
int reducer_end(struct reducer *r, struct error *err);

/* How a chain ends: what must have come of it. */
struct reduce_last {
	uint64_t nr_requests, nr_seams; /* records */
	uint64_t nr_orders;             /* methods of which no order was known */
};
bool reduce_take_last(struct str body, struct reduce_last *last, struct losses *losses);

#endif
