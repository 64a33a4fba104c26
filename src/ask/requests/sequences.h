/* Log sequences: which log points the requests of one sequence passed, and how many did. */
#ifndef CULPRIT_ASK_REQUESTS_SEQUENCES_H
#define CULPRIT_ASK_REQUESTS_SEQUENCES_H

#include <stdbool.h>

struct error;
struct report;
struct request_filter;
struct store;

/* 0, 1 when there is no request, or negative. */
int sequences_report(struct store *s, const struct request_filter *f, bool for_people,
		     struct report *report, struct error *err);

#endif
