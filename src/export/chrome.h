/* A run as the events of Chrome's trace viewer. */
#ifndef CULPRIT_EXPORT_CHROME_H
#define CULPRIT_EXPORT_CHROME_H

#include "export/tracks.h"

/* Begin with the tracks settled. */
struct chrome_state {
	struct tracks tracks;
	bool any; /* an event was written already */
};

void chrome_begin(void *state, struct buf *out);
void chrome_request(void *state, const struct fed *x, struct buf *out);
void chrome_end(void *state, struct buf *out);

#endif
