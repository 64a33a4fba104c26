/* Names that things bear until they are complete: a file that is written under its name with an
 * ending, and renamed. */
#ifndef CULPRIT_INFER_REQUESTS_INTERIM_H
#define CULPRIT_INFER_REQUESTS_INTERIM_H

#include "infer/requests/tie.h"

struct interim {
	const struct work *w;
	struct map shares; /* hash of an ending: names that have it, and those that lose it */
};

void interim_begin(struct interim *n, const struct work *w);
void interim_done(struct interim *n);
/* The earlier unit of the request that made what the unit gives its own name; NULL: none. */
const struct candidate *interim_cause(const struct interim *n, const struct ties *l, uint32_t unit);

#endif
