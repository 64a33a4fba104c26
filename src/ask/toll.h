/* What a slow node cost: the time that requests which visit it meanwhile take beyond what such
 * requests take at other times, and beyond those that do without it. */
#ifndef CULPRIT_ASK_TOLL_H
#define CULPRIT_ASK_TOLL_H

#include "ask/peers.h"
#include "model/request.h"

struct visit {
	uint64_t request;
	int64_t start, ns;
	uint64_t nodes; /* bits: labels - 1 */
	uint32_t type;
};

/* Zero is empty. */
struct toll {
	VEC(struct visit) v; /* some of them, if there are many */
	uint64_t seen;
};

void toll_done(struct toll *t);
/* The labels are those of the peers that faults are found among. */
void toll_add(struct toll *t, struct peers *labels, uint32_t type, const struct request *r,
	      const struct request_body *body);
/* Adds to the fault the requests that it slows down, and what they lose where that is more than
 * what is known. */
void toll_count(const struct toll *t, struct peer_fault *f);

#endif
