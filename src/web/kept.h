/* Answers that took long, kept in the user's cache for the next time the run is served: a run file
 * itself is never changed once it is whole. Bounded in number, the oldest go first. */
#ifndef CULPRIT_WEB_KEPT_H
#define CULPRIT_WEB_KEPT_H

#include <stdbool.h>

#include "base/buf.h"

/* The key must say all that the answer depends on. Where there is no cache, nothing is kept. */
bool kept_find(struct str key, struct buf *answer);
void kept_put(struct str key, struct str answer);
/* Adds what tells the content of a file from that of any other; false where it cannot be told. */
bool kept_file(const char *path, struct buf *key);

#endif
