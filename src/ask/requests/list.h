/* Rows of requests, as scripts rely on them. */
#ifndef CULPRIT_ASK_REQUESTS_LIST_H
#define CULPRIT_ASK_REQUESTS_LIST_H

#include "base/names.h"
#include "base/vec.h"
#include "model/request.h"

struct error;
struct report;
struct request_filter;
struct section;
struct store;

/* When a request was on each node. Reused from request to request; zero is ready. */
struct visit {
	sym_t node;
	int64_t start, end;
};
struct visits {
	struct names names;
	VEC(struct visit) v; /* of the last request, in order of first sight */
	VEC(uint32_t) place; /* by node: position + 1 in v */
};
void visits_of(struct visits *n, const struct request_body *body);
void visits_done(struct visits *n);

struct section *list_section(struct report *r, const char *title);
void list_add(struct section *s, struct visits *n, const struct request *r,
	      const struct request_body *body);
/* Lists what the filter lets through, in its order. */
int list_requests(struct store *s, const struct request_filter *f, struct report *report,
		  struct section *out, struct error *err);

#endif
