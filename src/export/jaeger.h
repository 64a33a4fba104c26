/* One request as a trace of Jaeger's JSON. */
#ifndef CULPRIT_EXPORT_JAEGER_H
#define CULPRIT_EXPORT_JAEGER_H

#include "export/feed.h"

/* Zero is a valid start. */
struct jaeger_state {
	bool any; /* a trace was written already */
};

void jaeger_begin(void *state, struct buf *out);
void jaeger_request(void *state, const struct fed *x, struct buf *out);
void jaeger_end(void *state, struct buf *out);

#endif
