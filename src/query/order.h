/*
 * Puts the events of a run into an order in which each stands behind all that happened before it:
 * one connected execution after another, within it by time as far as causality allows, then as they
 * came. What is first and most recent among events that happened side by side follows from it.
 */
#ifndef CULPRIT_QUERY_ORDER_H
#define CULPRIT_QUERY_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Events by number; before[at[i]] … before[at[i + 1] - 1] happened directly before event i. */
struct happened {
	size_t nr;
	const int64_t *ns;
	const uint64_t *at; /* nr + 1 */
	const uint32_t *before;
};

/* From malloc. */
struct order {
	uint32_t *events; /* in order */
	uint32_t *ends;   /* of each execution: where the next one begins */
	size_t nr_ends;
	uint64_t nr_circular; /* edges left out, as they led in a circle */
};

void order_make(struct order *o, const struct happened *h);
void order_done(struct order *o);

#endif
