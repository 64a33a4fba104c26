/* The self times of a run, summed by path of spans. */
#ifndef CULPRIT_EXPORT_FOLDED_H
#define CULPRIT_EXPORT_FOLDED_H

#include "base/names.h"
#include "base/vec.h"
#include "export/feed.h"

/* Zero is a valid start. */
struct folded_state {
	struct names paths;
	VEC(int64_t) self_ns; /* per path */
	uint64_t path_bytes;  /* held by paths */
	struct buf path;
};

void folded_done(struct folded_state *f);
void folded_request(void *state, const struct fed *x, struct buf *out);
void folded_end(void *state, struct buf *out);

#endif
