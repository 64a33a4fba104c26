/* Counts what requests carry (attributes, errors, nodes), to find what one set has and another
 * lacks.
 */
#ifndef CULPRIT_ASK_FEATURES_H
#define CULPRIT_ASK_FEATURES_H

#include "ask/contrast.h"

struct feature_count {
	uint64_t requests[SIDES];
	uint64_t last; /* the request that counted last, so that each counts once */
};

/* Zero is empty. A feature is a hop of this tree: type, then key, then value. */
struct features {
	struct hops tree;
	VEC(struct feature_count) counts; /* by hop */
	VEC(uint64_t) seen[SIDES];        /* requests looked at, by type */
	struct buf text;
};

void features_done(struct features *f);
void features_add(struct features *f, uint32_t type, enum contrast_side side,
		  const struct request *r, const struct request_body *body);

struct feature {
	struct str key, value;
	uint64_t requests[SIDES], seen[SIDES];
	double lift;       /* how many times as frequent in SIDE_OTHER */
	double confidence; /* that it is more frequent there at all */
};

/* The most telling ones of SIDE_OTHER first; returns how many of at_most there are. */
size_t features_telling(struct features *f, uint32_t type, struct feature *out, size_t at_most);

#endif
