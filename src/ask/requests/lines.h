/* Every log line with the request that it belongs to. */
#ifndef CULPRIT_ASK_REQUESTS_LINES_H
#define CULPRIT_ASK_REQUESTS_LINES_H

#include <stdint.h>

struct error;
struct report;
struct store;

/* At most so many rows; 0 for all. */
int lines_report(struct store *s, uint64_t at_most, struct report *r, struct error *err);

#endif
