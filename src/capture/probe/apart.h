/* A child of ours that works on other processes: it outlives us for as long as it has to put
 * something back. */
#ifndef CULPRIT_CAPTURE_PROBE_APART_H
#define CULPRIT_CAPTURE_PROBE_APART_H

#include <stdint.h>

/* Nothing of who has started us is held open but these two files, and nothing that is meant for it
 * reaches us. Both get other numbers; other: 0 or less when there is none, -1 afterwards. */
void apart(const char *name, int *socket, int32_t *other);

#endif
