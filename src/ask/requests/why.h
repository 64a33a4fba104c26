/* Why the lines of a request are together: a reason for each span, and how sure it is. */
#ifndef CULPRIT_ASK_REQUESTS_WHY_H
#define CULPRIT_ASK_REQUESTS_WHY_H

struct report;
struct request;
struct request_body;

void why_report(const struct request *r, const struct request_body *body, struct report *report);

#endif
