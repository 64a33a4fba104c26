/* How fine the clock of a node is, as far as its delays tell. */
#ifndef CULPRIT_INFER_PATHS_TICK_H
#define CULPRIT_INFER_PATHS_TICK_H

#include <stdint.h>

struct stretch;

/* A power of ten of nanoseconds, or 0 when it is fine enough. */
int64_t tick_of(const struct stretch *s);

#endif
