/* What two units name in common, and whether the rest of what they name contradicts that. */
#ifndef CULPRIT_INFER_REQUESTS_COMMON_H
#define CULPRIT_INFER_REQUESTS_COMMON_H

#include "base/lists.h"
#include "infer/requests/hold.h"

#define COMMON_NONE (-100.0F)

/* Many units name the very same things: what they have in common with others is found once. */
struct common {
	const struct work *w;
	const struct owners *o;
	const float *bits; /* of each thing: how rare it is */
	struct lists sets; /* of things and depths */
	VEC(struct common_set) about;
	VEC(struct common_single) singles; /* of the sets */
	VEC(uint32_t) scratch;
	struct common_known *known; /* about two sets, those asked for last */
};

void common_begin(struct common *c, const struct work *w, const struct owners *o,
		  const float *bits);
void common_done(struct common *c);
/* The set of what the unit holds. */
uint32_t common_set(struct common *c, const struct unit *u);
/* How rare the rarest thing is that ties a unit with the second set to an earlier one with the
 * first; COMMON_NONE: none does, or they contradict each other. */
float common_tie(struct common *c, uint32_t earlier, uint32_t set, uint32_t *thing);

#endif
