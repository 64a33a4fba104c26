/* Asks what every visitor of a large run will ask, while nobody waits for it yet. */
#ifndef CULPRIT_WEB_AHEAD_H
#define CULPRIT_WEB_AHEAD_H

struct ahead;
struct api;

/* In a thread of its own; NULL where that cannot be had. The api must outlive it. */
struct ahead *ahead_start(const struct api *api);
/* After apart_stop, which ends what is being asked. */
void ahead_stop(struct ahead *a);

#endif
