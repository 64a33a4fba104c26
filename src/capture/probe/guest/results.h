/* Rows that advice tells, where who watches finds them: equal ones added up in a table, others one
 * behind another. One thread writes; nobody waits. */
#ifndef CULPRIT_CAPTURE_PROBE_GUEST_RESULTS_H
#define CULPRIT_CAPTURE_PROBE_GUEST_RESULTS_H

#include <stddef.h>

#include "wire/probe_region.h"

struct advice_row;
struct bag;

/* For struct advice_out; to: struct results_to. */
void results_emit(void *to, const struct advice_row *row) __attribute__((visibility("hidden")));

/* For struct bag_spill; to: struct probe_results. */
uint64_t *results_spill_begin(void *to, size_t nr) __attribute__((visibility("hidden")));
void results_spill_end(void *to, size_t nr) __attribute__((visibility("hidden")));

struct results_to {
	struct probe_results *results;
	struct probe_table *table;
};

/* Between these two nobody reads the table that is written into. */
void results_begin(struct results_to *to, struct probe_results *r, const struct probe_region *g);
void results_end(struct results_to *to);
/* A run that cannot be made here, with all that it needs. */
void results_hold(struct results_to *to, const struct probe_advice *a,
		  const struct advice_value *inputs, uint64_t time, const struct bag *bag)
	__attribute__((visibility("hidden")));

#endif
