/* Threads of a process that has numbers of its own (a PID namespace), by the numbers that they have
 * here. */
#ifndef CULPRIT_CAPTURE_PROBE_NAMESAKE_H
#define CULPRIT_CAPTURE_PROBE_NAMESAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

/* Zero is of a process that numbers as we do. */
struct namesakes {
	char space[64];       /* its namespace, as /proc names it; empty: ours */
	struct map here;      /* process and thread here, by what they are called there */
	struct map processes; /* the same for processes alone */
};

void namesakes_init(struct namesakes *n, int pid);
void namesakes_done(struct namesakes *n);
/* Process and thread, 32 bits each. 0 when there is none of that name any more. */
uint64_t namesakes_here(struct namesakes *n, uint64_t owner);

#endif
