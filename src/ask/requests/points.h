/* Some requests that stand for all when each is drawn as a point: peaks stay. */
#ifndef CULPRIT_ASK_REQUESTS_POINTS_H
#define CULPRIT_ASK_REQUESTS_POINTS_H

#include <stdint.h>

struct error;
struct report;
struct request_filter;
struct store;

/* At most so many. 0, 1 when there is no request, or negative. */
int points_report(struct store *s, const struct request_filter *f, uint32_t at_most,
		  struct report *report, struct error *err);

#endif
