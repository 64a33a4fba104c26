/* Work that goes on after the reply: calls that a node makes when nobody waits for it any more. */
#ifndef CULPRIT_INFER_PATHS_LATE_H
#define CULPRIT_INFER_PATHS_LATE_H

#include <stdint.h>

struct window;

/* Gives such calls to the calls that they regularly follow, and decides them. linger[node] is
 * raised to the longest time after which the node still went on. */
void late_tie(struct window *w, int64_t *linger);

#endif
