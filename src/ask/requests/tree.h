/* One request as an indented tree: a time bar for each span, its own time, its log lines below it.
 */
#ifndef CULPRIT_ASK_REQUESTS_TREE_H
#define CULPRIT_ASK_REQUESTS_TREE_H

struct error;
struct report;
struct request;
struct request_body;
struct store;

int tree_report(struct store *s, const struct request *r, const struct request_body *body,
		struct report *report, struct error *err);

#endif
