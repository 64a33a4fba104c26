/* What the sample tells about times that lack year, date or origin. */
#ifndef CULPRIT_SOURCE_LAYOUT_SETTLE_H
#define CULPRIT_SOURCE_LAYOUT_SETTLE_H

#include <stddef.h>
#include <stdint.h>

#include "source/layout.h"

/* Moments of the sample's lines, in order, as layout_parse gave them. */
void layout_settle_learn(struct layout *layout, const int64_t *ns, size_t nr);

#endif
