/* Learns the model of one node from a stretch of its time line. */
#ifndef CULPRIT_INFER_PATHS_LEARN_H
#define CULPRIT_INFER_PATHS_LEARN_H

#include "infer/paths/model.h"

/* The piece is left assigned and marked. heat above 1: the search begins more freely. Returns the
 * log likelihood of everything. is_stopped may be NULL. */
double learn_model(struct model *m, struct piece *p, const struct view *v, float heat,
		   uint64_t *seed, bool (*is_stopped)(void));

#endif
