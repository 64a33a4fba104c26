/* Retries: steps of a request that failed and were done again, and steps done more often by
 * requests with errors than by others. */
#ifndef CULPRIT_ASK_REPEATS_H
#define CULPRIT_ASK_REPEATS_H

#include "ask/anomaly.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/names.h"
#include "model/request.h"

struct types;

/* One step of one type. */
struct repeat {
	uint32_t type;
	struct str name;
	VEC(struct repeat_seen) seen; /* in no order; the first many */
};

struct repeat_seen {
	int64_t start, ns;
	uint64_t request;
	sym_t failed; /* the node on which it failed before it was done again, or 0 */
	uint32_t times;
	bool error; /* of the request */
};

/* Zero is empty. */
struct repeats {
	struct names keys, nodes, names;
	VEC(struct repeat) v; /* by key - 1 */
	struct arena arena;
	struct buf key;
	uint64_t nr_seen;
};

void repeats_done(struct repeats *r);
void repeats_add(struct repeats *r, uint32_t type, const struct request *q,
		 const struct request_body *body);

/* At most one for each type; texts are borrowed from r and types. */
void repeats_find(const struct repeats *r, const struct types *types, struct anomaly_list *out);

#endif
