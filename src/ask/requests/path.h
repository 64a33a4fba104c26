/* The critical paths of requests, one by one for scripts, and summed by hop. */
#ifndef CULPRIT_ASK_REQUESTS_PATH_H
#define CULPRIT_ASK_REQUESTS_PATH_H

#include <stddef.h>

struct error;
struct report;
struct request;
struct request_body;
struct request_filter;
struct store;

/* The sections of one request, for people and scripts. */
void path_of_one(const struct request *r, const struct request_body *body, struct report *report);
/* One row of sections for each request, in order of id; for scripts. */
int path_of_each(struct store *s, const struct request_filter *f, struct report *report,
		 struct error *err);
/* Total and share of every hop of every type; at most so many rows of each type (0: all). */
int path_summed(struct store *s, const struct request_filter *f, size_t at_most,
		struct report *report, struct error *err);

#endif
