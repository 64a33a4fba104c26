/* Every log line with the request that it belongs to. */
#ifndef CULPRIT_ASK_REQUESTS_LINES_H
#define CULPRIT_ASK_REQUESTS_LINES_H

struct error;
struct report;
struct store;

int lines_report(struct store *s, struct report *r, struct error *err);

#endif
