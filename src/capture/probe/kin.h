/* Processes and their children, as /proc tells. */
#ifndef CULPRIT_CAPTURE_PROBE_KIN_H
#define CULPRIT_CAPTURE_PROBE_KIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When the process began, by the kernel's count; 0: it is gone, or about to be. */
uint64_t kin_started(int pid);
/* Adds the children of a process to pids, up to room; each thread has children of its own: all of
 * many threads are asked only when it is to be full. */
void kin_children(int pid, bool is_full, int *pids, size_t *nr, size_t room);
/* All processes below one, nearest first; how many, at most room. */
size_t kin_below(int pid, int *pids, size_t room);

#endif
