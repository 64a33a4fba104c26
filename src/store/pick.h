/* Picks the requests that a filter lets through from the briefs: where each stands, 24 bytes each.
 */
#ifndef CULPRIT_STORE_PICK_H
#define CULPRIT_STORE_PICK_H

#include "base/vec.h"
#include "store/store.h"

struct pick {
	int64_t key; /* by which they are put in order, then by id */
	uint64_t id, ordinal;
};

struct picks {
	VEC(struct pick) v;
};

/* In the order of the filter. */
int picks_make(struct store *s, const struct request_filter *f, struct picks *p, struct error *err);
/* Those with these ids, which ascend. */
int picks_of(struct store *s, const uint64_t *ids, size_t nr, struct picks *p, struct error *err);
/* In the order in which bodies stand. */
void picks_by_ordinal(struct picks *p);
void picks_by_id(struct pick *v, size_t nr);
/* Whether the filter leaves all that is selected. */
bool picks_are_all(const struct store *s, const struct request_filter *f);
/* Only about so many, the same ones each time; how many were left out. */
int picks_sample(struct store *s, const struct request_filter *f, struct picks *p, uint64_t nr,
		 uint64_t *nr_left, struct error *err);

#endif
