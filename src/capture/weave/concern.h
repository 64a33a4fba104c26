/* Which processes of this host have something in them that queries ask of. */
#ifndef CULPRIT_CAPTURE_WEAVE_CONCERN_H
#define CULPRIT_CAPTURE_WEAVE_CONCERN_H

#include <stdbool.h>

struct tracepoint;

/* Whether the process has mapped a file that the tracepoint may be in: by its name. A static probe
 * says whose it is, but not where; any program may have it whose name begins so, or vice versa. */
bool concern_is(int pid, const struct tracepoint *t);

#endif
