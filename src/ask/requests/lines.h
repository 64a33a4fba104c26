/* Every log line with the request that it belongs to. */
#ifndef CULPRIT_ASK_REQUESTS_LINES_H
#define CULPRIT_ASK_REQUESTS_LINES_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct report;
struct store;

/* At most so many rows; 0 for all. By operation: "17.2" is the second part of request 17. */
int lines_report(struct store *s, bool by_operation, uint64_t at_most, struct report *r,
		 struct error *err);

#endif
