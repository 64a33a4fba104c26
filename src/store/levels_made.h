/* Makes the levels of a run while its requests are numbered. */
#ifndef CULPRIT_STORE_LEVELS_MADE_H
#define CULPRIT_STORE_LEVELS_MADE_H

#include "base/buf.h"
#include "base/vec.h"
#include "store/store.h"

#define LEVELS_MOST 4
#define LEVELS_FROM \
	(1u << 18) /* a run of fewer requests is counted as fast as its levels are read */
#define LEVEL_COLUMNS (1u << 13) /* bins of time of the coarsest level, at the most */
#define LEVEL_STEP 2             /* bits by which the next is finer */
#define LEVEL_PLACE 48           /* a block stands at (level + 1) << this + column */
#define LEVEL_POINTS (((uint64_t)LEVELS_MOST + 1) << LEVEL_PLACE)
#define LEVEL_BLOCK ((size_t)256 << 10)

struct level_made {
	unsigned shift;
	uint64_t base, column; /* of the run, and the one that is being filled */
	bool is_given_up;      /* it would take more room than it is worth */
	VEC(uint64_t) pending; /* requests of the column: type, bin, error */
	struct buf block;      /* what is not written yet */
	uint64_t first;        /* its first column */
	size_t bytes;
};

/* Zero is ready. */
struct levels_made {
	unsigned nr;
	struct level_made v[LEVELS_MOST];
	size_t bytes_max;
	/* of each column of the coarsest level: the slowest, the fastest, and one drawn by lot */
	struct brief slowest, fastest, drawn;
	uint64_t lot;
	struct buf points;
	uint64_t nr_points;
	int64_t last_start;
	uint64_t last_id;
};

/* Requests start in [first, last]. */
void levels_begin(struct levels_made *m, uint64_t nr_requests, int64_t first, int64_t last);
int levels_add(struct store *s, struct levels_made *m, const struct brief *b, struct error *err);
int levels_finish(struct store *s, struct levels_made *m, struct error *err);
void levels_made_done(struct levels_made *m);

#endif
