/*
 * Rows of threads that others carry (Java's virtual ones), in the order in which they were told:
 * one begins something on one thread of the machine, and ends it on another, which may be read
 * first.
 *
 * What such a thread told before a row was written before the time of that row. So it is there when
 * all have been read once more since.
 */
#ifndef CULPRIT_CAPTURE_TRACE_ORDERED_H
#define CULPRIT_CAPTURE_TRACE_ORDERED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct reaped;

typedef void ordered_row(void *ctx, const struct reaped *row);

/* Zero is empty. */
struct ordered {
	VEC(struct ordered_one {
		int64_t ns;
		uint64_t nr;
		ordered_row *to;
		struct ordered_copy *row;
	})
	v;
	uint64_t nr;          /* rows ever */
	int64_t last, before; /* the latest so far; … when all were last read */
};

void ordered_done(struct ordered *o);
/* A row of this time, and who is to get it. */
void ordered_add(struct ordered *o, int64_t ns, ordered_row *to, const struct reaped *row);
/* All have been read once more: what nothing can come before any more is passed on. is_over:
 * everything is. */
void ordered_pass(struct ordered *o, bool is_over, void *ctx);

#endif
