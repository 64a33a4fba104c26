/* Executes a plan over executions that are known whole: each stage at its events, in causal order.
 */
#ifndef CULPRIT_QUERY_RUN_H
#define CULPRIT_QUERY_RUN_H

#include "query/order.h"
#include "query/plan.h"
#include "query/total.h"

/* Who knows the events. */
struct observer_of_events {
	void *ctx;
	/* The stages that have the event's tracepoint, as bits. */
	uint64_t (*stages)(void *ctx, uint32_t event);
	/* Sets the variables that the stage observes in the row, which is by variable. */
	void (*observe)(void *ctx, uint32_t event, uint32_t stage, struct value *row);
};

/* A column of a row of the answer. */
struct answer_cell {
	struct value value;
	const struct buckets *buckets; /* of a HISTOGRAM, otherwise NULL */
};

struct answer {
	void *ctx;
	/* Non-zero ends it, and is returned. */
	int (*row)(void *ctx, const struct answer_cell *cells, size_t nr);
};

/* By stage, the root has none. */
struct run_counts {
	uint64_t packed;         /* tuples at the events that packed them */
	uint64_t carried;        /* tuples behind all events, one after another */
	uint64_t carried_values; /* the same times what is in each */
	uint64_t most;           /* tuples behind one event */
	uint64_t nr_behind;      /* events that any tuple is behind */
};

struct query_run {
	const struct plan *plan;
	const struct happened *happened;
	const struct order *order;
	const struct observer_of_events *events;
	struct names *names; /* of texts */
	const struct answer *answer;
	struct run_counts *counts; /* by stage; NULL: nothing is counted, which is faster */
};

/* 0, what answer said, or a type error. */
int query_run(const struct query_run *q, struct error *err);

#endif
