/* One request as a line of OTLP JSON. */
#ifndef CULPRIT_EXPORT_OTLP_H
#define CULPRIT_EXPORT_OTLP_H

#include "export/feed.h"

/* The state is a struct json, for values that are lists or maps. */
void otlp_request(void *state, const struct fed *x, struct buf *out);

#endif
