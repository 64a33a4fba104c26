/* Numbers that name a parent beside themselves (pid=12, ppid=10): all that descends from one is a
 * family. */
#ifndef CULPRIT_INFER_REQUESTS_LINEAGE_H
#define CULPRIT_INFER_REQUESTS_LINEAGE_H

#include "infer/requests/work.h"

/* Sets the root of every thing that has one, and marks roots as families. */
void lineage_find(struct work *w);

#endif
