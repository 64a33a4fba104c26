/* How long the calls of a window took, for edges of which some calls were half seen. */
#ifndef CULPRIT_INFER_PATHS_LENGTHS_H
#define CULPRIT_INFER_PATHS_LENGTHS_H

#include <stdint.h>

#include "base/vec.h"

struct window;

struct length {
	uint64_t edge; /* 0: of all edges together */
	int64_t ns;
};

/* Zero is empty: want the edges, read, ask. */
struct lengths {
	uint8_t *wanted; /* bits by hash of the edge */
	VEC(struct length) v;
};

void lengths_done(struct lengths *l);
void lengths_want(struct lengths *l, uint32_t from, uint32_t to);
void lengths_read(struct lengths *l, const struct window *w);
/* The time within which this share of the calls was answered; where too few were, that of all
 * calls. Negative when nothing is known. *nr, which may be NULL: how many calls of the edge. */
int64_t lengths_of(const struct lengths *l, uint32_t from, uint32_t to, double share, size_t *nr);

#endif
