/* A thread of a watched process that stands still in our code until we are ready
 * (wire/probe_region.h), seen from outside. */
#ifndef CULPRIT_CAPTURE_PROBE_HOLD_H
#define CULPRIT_CAPTURE_PROBE_HOLD_H

#include <stdbool.h>
#include <stdint.h>

struct probe_region;

/* Whether a thread waits, or will. */
bool hold_is(const struct probe_region *r);
/* … and whether one has come by then; waits for it: a machine that is made comes within this. */
#define HOLD_ARRIVES_NS INT64_C(2000000000)
bool hold_wait(const struct probe_region *r, int64_t patience_ns);
/* It goes on. True when it has waited up to now. */
bool hold_let_go(struct probe_region *r);

#endif
