/* Gathered lines as bytes that can leave memory for a while. */
#ifndef CULPRIT_INFER_REQUESTS_GATHER_PACK_H
#define CULPRIT_INFER_REQUESTS_GATHER_PACK_H

#include <stdbool.h>

#include "base/buf.h"

struct gather;

/* All lines and what they name; not which file is of which log. */
void gather_pack(const struct gather *g, struct buf *b);
/* Into an empty one; false when the bytes are none of gather_pack. */
bool gather_unpack(struct gather *g, struct str bytes);

#endif
