/* Reads what advice of a family of processes has told, while it goes on. What stands there was
 * written by a stranger and is checked. */
#ifndef CULPRIT_CAPTURE_WEAVE_REAP_H
#define CULPRIT_CAPTURE_WEAVE_REAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/probe/probe.h"
#include "wire/probe_region.h"

/* A run of advice that waits for what it reads. Borrowed, as texts are. */
struct reaped_run {
	uint32_t which; /* piece of the query's */
	uint64_t time_ns;
	uint8_t nr_inputs;
	struct advice_value inputs[ADVICE_INPUTS]; /* in the order of their numbers */
	const void *bag;
	size_t bag_bytes;
};

/* A row, or several equal ones. Texts are borrowed until the call returns. */
struct reaped {
	uint32_t query;
	uint8_t nr_columns, nr_totals;
	uint32_t flags; /* ADVICE_ROW_… of any of them */
	uint64_t times, nr_incomplete;
	const struct reaped_run *held; /* or NULL: no row, but a run that may make some */
	struct advice_value columns[ADVICE_COLUMNS];
	struct probe_total totals[ADVICE_TOTALS];
};

struct reap {
	struct probe_view view;
	struct probe_tally *seen; /* by ring */
	uint64_t nr_unseen, nr_limited;
};

/* Since the last time. */
struct reap_counts {
	struct probe_tally tally;
	uint64_t nr_unseen;  /* runs of threads for which there was no room */
	uint64_t nr_limited; /* … that were left out, since there were too many */
	uint64_t nr_broken;  /* rows that make no sense */
	uint64_t nr_held;    /* threads in the midst of advice, whose groups come the next time */
};

typedef void reap_row(void *ctx, const struct reaped *row);
/* A record of what found no room in a bag (wire/spill.h), not looked into. */
typedef void reap_spill(void *ctx, const uint64_t *words, size_t nr);

void reap_init(struct reap *g, struct probe_view view);
void reap_done(struct reap *g);
/* What was told one by one: often enough that there is room for more. */
void reap_rows(struct reap *g, reap_row *row, reap_spill *spill, void *ctx, struct reap_counts *c);
/* Rows that were added up. is_over: nobody runs there any more. */
void reap_groups(struct reap *g, bool is_over, reap_row *row, void *ctx, struct reap_counts *c);

#endif
