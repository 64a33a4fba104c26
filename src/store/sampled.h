/* Which requests are in a sample, and their records, kept since a question goes over the same ones
 * several times. */
#ifndef CULPRIT_STORE_SAMPLED_H
#define CULPRIT_STORE_SAMPLED_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "store/pick.h"

/* Zero is empty. */
struct sampled {
	struct arena arena;
	struct map places; /* by ordinal: where in v, from 1 */
	VEC(struct str) v;
	size_t bytes;
	bool is_drawn;
	struct picks drawn; /* of all that is selected */
};

void sampled_done(struct sampled *k);
/* Whether the record of that ordinal is there. */
bool sampled_find(const struct sampled *k, uint64_t ordinal, struct str *record);
/* Unless there are many already. */
void sampled_keep(struct sampled *k, uint64_t ordinal, struct str record);

#endif
