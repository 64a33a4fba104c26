/* How long the work took that a line tells of, as its text says it: "done in 12 ms", "took=0.3s". */
#ifndef CULPRIT_SOURCE_SPENT_H
#define CULPRIT_SOURCE_SPENT_H

#include <stdint.h>

#include "base/str.h"

/* Nanoseconds; -1 when the text says nothing of the kind. Bare numbers with a fraction are of the
 * unit given, those without are milliseconds. */
int64_t spent_find(struct str text, int64_t fraction_unit_ns);

#endif
