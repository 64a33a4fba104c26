/* Objects on different paths that lines name together. */
#ifndef CULPRIT_ASK_OBJECTS_LINKS_H
#define CULPRIT_ASK_OBJECTS_LINKS_H

#include <stdbool.h>

#include "ask/object_kin.h"

struct report;

/* All of them, or those of an object and of what is below it (UINT32_MAX: all). 0, or 1 when there
 * are none. */
int links_report(const struct object_kin *k, uint32_t under, uint64_t limit, bool for_people,
		 struct report *report);

#endif
