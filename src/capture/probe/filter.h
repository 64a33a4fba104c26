/* Whether a process whose system calls are filtered (seccomp) may make those that we ask of it. */
#ifndef CULPRIT_CAPTURE_PROBE_FILTER_H
#define CULPRIT_CAPTURE_PROBE_FILTER_H

#include <stdbool.h>

struct error;
struct tracee;

/* Of all threads, while they are held: each may have filters of its own, and our code runs in all.
 */
int filter_check(const struct tracee *t, struct error *err);
/* Whether bags may go over its connections: more calls. */
bool filter_lets_carry(const struct tracee *t);

#endif
