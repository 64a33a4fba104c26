/* How long the work took that a line tells of, as its text says it: "done in 12 ms", "took=0.3s".
 */
#ifndef CULPRIT_SOURCE_SPENT_H
#define CULPRIT_SOURCE_SPENT_H

#include <stdint.h>

#include "base/str.h"

struct layout_worker;

/* Nanoseconds; -1 when the text says nothing of the kind. */
int64_t spent_find(struct str text, struct layout_worker *worker);

#endif
