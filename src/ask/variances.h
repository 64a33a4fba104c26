/* What changed of the variance of a type of request between two runs, factor by factor. */
#ifndef CULPRIT_ASK_VARIANCES_H
#define CULPRIT_ASK_VARIANCES_H

#include <stdbool.h>

struct error;
struct report;
struct request_filter;
struct store;

/* The type of the filters, or where they name none the one whose variance changed most. 0, or 1
 * where nothing changed. */
int variances_diff(struct store *const *runs, const struct request_filter *filters, bool for_people,
		   struct report *report, struct error *err);

#endif
