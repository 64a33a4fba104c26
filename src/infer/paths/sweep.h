/* Moves calls between spans at random, so that likely assignments are seen as often as they are
 * likely. */
#ifndef CULPRIT_INFER_PATHS_SWEEP_H
#define CULPRIT_INFER_PATHS_SWEEP_H

#include <stdint.h>

struct model;
struct piece;

/* One pass over the unsure calls. */
void sweep(struct piece *p, struct model *m, uint64_t *seed);
/* Sweeps that count which span has each call. */
void sweep_marks(struct piece *p, struct model *m, uint64_t *seed, unsigned nr);

#endif
