/* One request beside the median one of its type, hop by hop. */
#ifndef CULPRIT_ASK_REQUESTS_COMPARE_H
#define CULPRIT_ASK_REQUESTS_COMPARE_H

struct error;
struct report;
struct request;
struct request_body;
struct store;

/* 0, 1 when there is no other of the type, or negative. */
int compare_report(struct store *s, const struct request *r, const struct request_body *body,
		   struct report *report, struct error *err);

#endif
