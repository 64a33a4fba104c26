/* A run as Perfetto's protobuf trace. */
#ifndef CULPRIT_EXPORT_PERFETTO_H
#define CULPRIT_EXPORT_PERFETTO_H

#include "export/tracks.h"

/* Begin with the tracks settled. */
struct perfetto_state {
	struct tracks tracks;
	struct buf packet, event, note; /* being built */
	bool began;                     /* the clocks were said */
};

void perfetto_done(struct perfetto_state *p);
void perfetto_begin(void *state, struct buf *out);
void perfetto_request(void *state, const struct fed *x, struct buf *out);

#endif
