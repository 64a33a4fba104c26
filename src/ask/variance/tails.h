/* What the slowest intervals have that the usual ones have not: the mean time of each node in both.
 */
#ifndef CULPRIT_ASK_VARIANCE_TAILS_H
#define CULPRIT_ASK_VARIANCE_TAILS_H

#include "ask/variance/factors.h"
#include "ask/variance/tree.h"

/* The slowest hundredth, and those from the 45th to the 55th percentile. */
void tails_bands(const int64_t *sorted, size_t nr, struct variance_bands *b);
/* ns by node, exact where the bands were known before, else of the sample; and in the answer what
 * is said of both as a whole. */
void tails_find(const struct variance_tree *t, double *slow, double *usual,
		struct variance_answer *a);

#endif
