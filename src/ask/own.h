/* The time that each span of a request spends itself: none of the spans that it waits for is under
 * way. */
#ifndef CULPRIT_ASK_OWN_H
#define CULPRIT_ASK_OWN_H

#include <stdint.h>

#include "base/arena.h"
#include "model/request.h"

/* One number for each span of the body, in ns, in the arena. Time n log n. */
int64_t *own_times(const struct request_body *b, struct arena *arena);

#endif
