/* Whether a node serves those who wait in the order in which they came, learned for each type of
 * span. */
#ifndef CULPRIT_INFER_PATHS_FIFO_H
#define CULPRIT_INFER_PATHS_FIFO_H

#include "infer/paths/model.h"

/* How many pairs of calls of two spans overtook each other while both waited. */
uint32_t fifo_crossed(const struct piece *p, const struct pspan *a, const uint32_t *kids_a,
		      uint32_t nr_a, const struct pspan *b, const uint32_t *kids_b, uint32_t nr_b);
/* Sets the penalty for overtaking from the pairs of which one call is not in doubt. */
void fifo_learn(struct model *m, const struct piece *p);

#endif
