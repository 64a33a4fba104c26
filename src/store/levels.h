/*
 * Requests summed up in bins of time and latency, at several resolutions (lprof, section 5), so
 * that wide views cost as much as they show and not as much as the run holds. Narrow ones are
 * counted from the requests themselves. Small runs and those of former days have no levels.
 */
#ifndef CULPRIT_STORE_LEVELS_H
#define CULPRIT_STORE_LEVELS_H

#include "store/store.h"

/* Bins of latency: four to an octave, the first for what takes no time. */
#define LEVEL_BINS 256

static inline unsigned level_bin(int64_t duration)
{
	unsigned e;

	if (duration < 4)
		return duration > 0 ? (unsigned)duration : 0;
	e = 63 - (unsigned)__builtin_clzll((uint64_t)duration);
	return (e - 1) * 4 + ((unsigned)(duration >> (e - 2)) & 3);
}

/* The least duration of a bin. */
static inline int64_t level_bin_from(unsigned bin)
{
	unsigned e = bin / 4 + 1;

	if (bin < 4)
		return bin;
	return e > 62 ? INT64_MAX : (int64_t)(4 + (bin & 3)) << (e - 2);
}

struct level_cell {
	int64_t start; /* of one request, or the least of a bin of time */
	uint32_t bin;
	uint64_t count, errors;
};

/* When the first and the last request of the filter and the selection may start: 1, or 0 when there
 * is none. */
int store_first_and_last(struct store *s, const struct request_filter *f, int64_t *first,
			 int64_t *last, struct error *err);
/* Cells that hold every request of the filter and the selection once, in no order. No bin of time
 * goes over a multiple of 1 << shift ns. */
int store_each_cell(struct store *s, const struct request_filter *f, unsigned shift,
		    int (*each)(void *ctx, const struct level_cell *c), void *ctx,
		    struct error *err);
/* Enough requests to draw so many points of, the slowest of every time among them, in order of
 * start: all, or those that were chosen beforehand. */
int store_each_point(struct store *s, const struct request_filter *f, uint32_t at_most,
		     int (*each)(void *ctx, const struct brief *b), void *ctx, struct error *err);

#endif
