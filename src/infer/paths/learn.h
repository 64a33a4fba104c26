/* Learns the model of one node from a stretch of its time line. */
#ifndef CULPRIT_INFER_PATHS_LEARN_H
#define CULPRIT_INFER_PATHS_LEARN_H

#include "infer/paths/model.h"
#include "infer/paths/start.h"

/* How well a run explains the piece it learned from. */
struct learned {
	double confidence; /* mean share of the samples in which the likeliest span has a call */
	double ll;         /* of everything */
};

/* The piece is left assigned and marked. */
struct learned learn_model(struct model *m, struct piece *p, const struct view *v, enum start start,
			   uint64_t *seed);

#endif
