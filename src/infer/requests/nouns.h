/* Words without a digit that name things, such as tables: found by what they own, and then taken
 * for names wherever they stand. */
#ifndef CULPRIT_INFER_REQUESTS_NOUNS_H
#define CULPRIT_INFER_REQUESTS_NOUNS_H

#include <stdbool.h>

#include "base/names.h"
#include "base/vec.h"
#include "infer/requests/gather.h"

/* A gather as it was before. Zero is a valid, empty one. */
struct nouns {
	VEC(struct seen_line) lines;
	VEC(uint32_t) named;
	bool is_on;
	uint64_t nr_left; /* words that were not weighed, there being too many */
};

/* Adds the names to the lines; false: there are none, and nothing is changed. */
bool nouns_find(struct nouns *n, struct gather *g);
/* Takes them out again, if there are any. */
void nouns_undo(struct nouns *n, struct gather *g);

/* The words that may be names of one sort: what stands where they stand is owned by one of them.
 * Returns how many were not weighed, there being too many. */
uint64_t nouns_choose(const struct gather *g, struct names *chosen);
/* Adds the names of these words; false: none stands for itself. */
bool nouns_add(struct nouns *n, struct gather *g, const struct names *chosen);

#endif
