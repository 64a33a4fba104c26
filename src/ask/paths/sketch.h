/* How long things take, as counts by magnitude: percentiles of any number of values in little
 * memory, merged at will. */
#ifndef CULPRIT_ASK_PATHS_SKETCH_H
#define CULPRIT_ASK_PATHS_SKETCH_H

#include <stdint.h>

#include "base/vec.h"

#define SKETCH_STEPS 64 /* bins between one power of two and the next */

struct sketch_bin {
	uint32_t bin;
	uint32_t nr;
	double sum; /* of its values: their mean stands for each of them */
};

/* Zero is a valid, empty sketch. Bins that hold something, in order. */
struct sketch {
	VEC(struct sketch_bin) bins;
	uint64_t nr;
};

void sketch_done(struct sketch *s);
/* Negative values count as 0. */
void sketch_add(struct sketch *s, int64_t v);
void sketch_merge(struct sketch *to, const struct sketch *from);
/* The value of the nearest rank, as stats_percentile says it, within 1/SKETCH_STEPS (1.6 %) of the
 * true one; exact where its bin holds one value only. 0 for an empty sketch. */
int64_t sketch_percentile(const struct sketch *s, double p);

#endif
