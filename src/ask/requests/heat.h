/* How many requests started when and took how long: counts in bins of time and of latency, the
 * latter on a scale of logarithms. */
#ifndef CULPRIT_ASK_REQUESTS_HEAT_H
#define CULPRIT_ASK_REQUESTS_HEAT_H

#include <stdint.h>

struct error;
struct report;
struct request_filter;
struct store;

/* At most so many of each. 0, 1 when there is no request, or negative. */
int heat_report(struct store *s, const struct request_filter *f, uint32_t columns, uint32_t rows,
		struct report *report, struct error *err);

#endif
