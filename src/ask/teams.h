/* Cuts requests into pieces of work that nodes can be compared by: single steps, steps that several
 * nodes did together, whole requests, and the ways between nodes. */
#ifndef CULPRIT_ASK_TEAMS_H
#define CULPRIT_ASK_TEAMS_H

#include "ask/peers.h"
#include "model/request.h"

/* Zero is empty. */
struct teams {
	struct peers nodes; /* labels are nodes; work without a name is a whole request */
	struct peers ways;  /* labels are "from → to" */
	struct arena arena;
	struct buf text;
};

void teams_done(struct teams *t);
void teams_add(struct teams *t, uint32_t type, const struct request *r,
	       const struct request_body *body);

#endif
