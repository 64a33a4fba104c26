/* Counts of losses as bytes: by name, so that both sides may know different ones. */
#ifndef CULPRIT_MODEL_LOSS_PACK_H
#define CULPRIT_MODEL_LOSS_PACK_H

#include "base/buf.h"
#include "model/loss.h"

void losses_pack(struct buf *b, const struct losses *l);
/* Adds what is told; false: not made by the above. What has no name here is passed over. */
bool losses_take(struct str *bytes, struct losses *l);

#endif
