/* A sample of intervals with all their times, each as likely to be in it as any other. */
#ifndef CULPRIT_ASK_VARIANCE_SAMPLE_H
#define CULPRIT_ASK_VARIANCE_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "ask/stats.h"
#include "base/vec.h"

struct sample_part {
	uint32_t node; /* of the tree: what it does itself */
	int64_t ns;
};

struct sample_interval {
	struct sample_part *v;
	uint32_t nr, room;
	int64_t ns;
};

struct sample {
	VEC(struct sample_interval) v;
	size_t most;
	struct dice dice;
};

void sample_done(struct sample *s);
/* The place of interval number nr (from 0), emptied; NULL: it is not in the sample. */
struct sample_interval *sample_place(struct sample *s, uint64_t nr);
void sample_put(struct sample_interval *i, uint32_t node, int64_t ns);

#endif
