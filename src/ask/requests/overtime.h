/* Latency and counts over time, when a slow time began, and the mean of each node. */
#ifndef CULPRIT_ASK_REQUESTS_OVERTIME_H
#define CULPRIT_ASK_REQUESTS_OVERTIME_H

#include <stdbool.h>
#include <stddef.h>

struct error;
struct report;
struct request_filter;
struct store;

int overtime_report(struct store *s, const struct request_filter *f, size_t steps, bool for_people,
		    struct report *report, struct error *err);

#endif
