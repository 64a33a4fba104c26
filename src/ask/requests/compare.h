/* One request beside another, mostly the median one of its type, hop by hop. */
#ifndef CULPRIT_ASK_REQUESTS_COMPARE_H
#define CULPRIT_ASK_REQUESTS_COMPARE_H

struct error;
struct report;
struct request;
struct request_body;
struct store;

struct compared {
	const struct request *head;
	const struct request_body *body;
};

/* Where the other is NULL, it is the median one of the type. 0, 1 when there is none, or negative.
 */
int compare_report(struct store *s, const struct compared *it, const struct compared *other,
		   struct report *report, struct error *err);

#endif
