/*
 * Lays the answer of a standing query out for people: a table with what was measured over time in
 * each row, or a pivot table, in which the values of one key stand side by side and totals at the
 * right and at the foot (Figure 1c of the paper on Pivot Tracing).
 */
#ifndef CULPRIT_REPORT_PIVOT_H
#define CULPRIT_REPORT_PIVOT_H

#include <stddef.h>

struct live_answer;
struct report;

struct pivot {
	const struct live_answer *cells; /* by all keys that are shown */
	/* The same put together: without the key that goes across, by that key alone, by none. */
	const struct live_answer *rows, *columns, *whole;
	size_t across;  /* the column of that key */
	size_t measure; /* the column that is shown */
	size_t at_most; /* values side by side; the others are counted */
};

/* One row for each of the answer, and a line of little bars behind each number that has steps. */
void pivot_list(const struct live_answer *a, struct report *r);
void pivot_report(const struct pivot *p, struct report *r);
/* The rows of one second, each with its time: for JSON. */
void pivot_second(const struct live_answer *a, struct report *r);

#endif
