/* Where the time of one object goes: its children, the silences in it and below it, and whose end
 * they wait for. */
#ifndef CULPRIT_ASK_OBJECTS_WHY_H
#define CULPRIT_ASK_OBJECTS_WHY_H

#include "ask/object_kin.h"

struct report;

/* The graph has events and texts. 0, or 1 when the object has no time of its own. */
int bottleneck_report(const struct object_kin *k, uint32_t object, struct report *report);

#endif
