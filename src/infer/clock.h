/* Finds how far the clocks of nodes are apart, from pairs of spans of which one must contain the
 * other. */
#ifndef CULPRIT_INFER_CLOCK_H
#define CULPRIT_INFER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct clock;

#define CLOCK_OPEN INT64_MAX /* the outer span does not wait for the inner one */

struct clock *clock_new(void);
void clock_free(struct clock *c);

/* A request began on this clock: such clocks are the ones to believe. */
void clock_root(struct clock *c, struct str name);
/*
 * The inner span was caused from within the outer one, on another clock. outer_end is CLOCK_OPEN
 * when the inner one may end later.
 */
void clock_pair(struct clock *c, struct str outer, struct str inner, int64_t outer_start,
		int64_t outer_end, int64_t inner_start, int64_t inner_end);
/* max_skew_ns: larger offsets are not applied; 0 applies none, negative any. */
void clock_solve(struct clock *c, int64_t max_skew_ns);

/* What to add to times of this clock; 0 for one that is right, unknown or not to be corrected. */
int64_t clock_offset(const struct clock *c, struct str name);

struct clock_found {
	struct str name;
	int64_t offset_ns;
	uint64_t pairs, agree; /* seen across, and how many the offset satisfies */
	bool applied;
};
/* The clocks that seem off, in order of name; false at the end. *at begins with 0. */
bool clock_next(const struct clock *c, uint32_t *at, struct clock_found *found);

#endif
