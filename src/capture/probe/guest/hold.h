/* A thread that waits where it is until who has come to watch is ready. */
#ifndef CULPRIT_CAPTURE_PROBE_GUEST_HOLD_H
#define CULPRIT_CAPTURE_PROBE_GUEST_HOLD_H

struct entered;

/* Comes back at once unless it is the call that the region's hold names, the first time. */
void hold_here(const struct entered *e);

#endif
