/* Waits until names change in directories, where the system tells; else until the time is over. */
#ifndef CULPRIT_SOURCE_FOLLOW_WATCH_H
#define CULPRIT_SOURCE_FOLLOW_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct follow_watch;

/* Works without the system's help as well (no inotify, or too many watches): then it only waits. */
struct follow_watch *follow_watch_new(void);
void follow_watch_free(struct follow_watch *w);
/* Again for one that is watched is well; a path that is no directory is passed over. */
void follow_watch_add(struct follow_watch *w, const char *directory);
/* True: a name came, went or changed. False: the time is over, or a signal came. */
bool follow_watch_wait(struct follow_watch *w, int64_t ns);

#endif
