/* What a run holds of each type of request: how many, how long, when, on which nodes. */
#ifndef CULPRIT_ASK_TYPES_H
#define CULPRIT_ASK_TYPES_H

#include "ask/series.h"
#include "base/names.h"
#include "base/vec.h"
#include "model/request.h"

struct error;
struct report;
struct request_filter;
struct section;
struct store;

#define TYPE_NONE UINT32_MAX

struct type_stat {
	struct str name;
	VEC(struct timing) timings; /* in order of start; a part of those of all types */
	VEC(sym_t) nodes;           /* after types_see: the first thousand, as seen */
	uint64_t errors, incomplete;
	double total;      /* ns of all of them together */
	double confidence; /* summed over all: how sure it is that each is one request */
	int64_t p50, p90, p99, max;
	bool is_searched; /* for a slow time */
	struct episode since;
};

struct types {
	struct names names, nodes;
	VEC(struct type_stat) v; /* by type number; one without timings does not exist */
	VEC(uint32_t) order;     /* of type numbers, where most time is spent first */
	struct timing *timings;  /* of all types, type by type: many types cost no more than few */
	uint32_t *in_turn;       /* the type of each request, as the store
				  * tells them: in order of start */
	int64_t first, last;     /* start of the first request, end of the last */
	uint64_t nr_requests;
};

/* Two passes over all requests in brief; the limit and the order of the filter have no part in it.
 */
int types_collect(struct types *t, struct store *s, const struct request_filter *f,
		  struct error *err);
void types_done(struct types *t);
/* When requests of that type were slower: looked for once. */
const struct episode *types_episode(struct types *t, uint32_t type);
/* When each of all requests started, in order: from malloc, nr_requests of them. */
int64_t *types_starts(const struct types *t);
uint32_t types_find(const struct types *t, struct str name);
/* Notes the nodes of one request of that type. */
void types_see(struct types *t, uint32_t type, const struct request_body *body);
/* One pass over all bodies that does so. */
int types_see_all(struct types *t, struct store *s, const struct request_filter *f,
		  struct error *err);

/* The table by type, where most time is spent first; at most so many rows (0: all). */
struct section *types_report(const struct types *t, struct report *r, size_t at_most);

#endif
