/* Shows the plan of a query: advice at each tracepoint, and what it would pack. */
#ifndef CULPRIT_ASK_QUERY_EXPLAIN_H
#define CULPRIT_ASK_QUERY_EXPLAIN_H

struct gathered;
struct plan;
struct report;
struct run_counts;

/* The counts are of this run, by stage. */
void explain_report(const struct plan *p, const struct gathered *g, const struct run_counts *counts,
		    struct report *report);

#endif
