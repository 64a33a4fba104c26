/* Which span began or ended when a thread did something: what was seen within two turns, and what
 * is open. */
#ifndef CULPRIT_CAPTURE_TRACE_MARKS_H
#define CULPRIT_CAPTURE_TRACE_MARKS_H

#include <stdbool.h>

#include "base/map.h"

struct trace_mark;
struct trace_span;

/* Zero is empty. */
struct marks {
	struct map now, before;
};

/* Of a span that is forgotten, as many times as it was added. */
typedef void marks_drop(void *ctx, struct trace_span *span);

void marks_done(struct marks *m, marks_drop *drop, void *ctx);
void marks_add(struct marks *m, const struct trace_mark *at, struct trace_span *span, bool is_end,
	       marks_drop *drop, void *ctx);
/* NULL: it is not known (any more). */
struct trace_span *marks_find(const struct marks *m, const struct trace_mark *at, bool *is_end);
/* A turn is over: what was seen in the one before is forgotten. */
void marks_renew(struct marks *m, marks_drop *drop, void *ctx);
/* The name of a mark; others may have it, too, as improbable as that is. */
uint64_t mark_name(const struct trace_mark *at);

#endif
