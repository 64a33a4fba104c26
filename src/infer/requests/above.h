/* What stands above each thing: its owners, and the folders of a path; listed once for each. */
#ifndef CULPRIT_INFER_REQUESTS_ABOVE_H
#define CULPRIT_INFER_REQUESTS_ABOVE_H

#include "infer/requests/hold.h"

struct above {
	const struct work *w;
	const struct owners *o;
	uint32_t *owners, *folders; /* of each thing: 1 + where its list stands, 0: not made yet */
	VEC(uint32_t) v;            /* lists: how many, then the things */
};

/* Who owns what is known. */
void above_begin(struct above *a, const struct work *w, const struct owners *o);
void above_done(struct above *a);
/* One of each kind that owns its kind. Valid until the next call, here and below. */
const uint32_t *above_owners(struct above *a, uint32_t thing, uint32_t *nr);
/* Those that something names and that tell work apart, the lowest first. */
const uint32_t *above_folders(struct above *a, uint32_t thing, uint32_t *nr);

#endif
