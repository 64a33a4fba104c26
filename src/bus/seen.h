/* Which reports of one sender were taken: each counts once, however often and in which order they
 * come. */
#ifndef CULPRIT_BUS_SEEN_H
#define CULPRIT_BUS_SEEN_H

#include <stdint.h>

#define SEEN_WIDTH 64 /* how far behind the newest one a report may come */

enum seen_as { SEEN_NEW, SEEN_TWICE, SEEN_TOO_LATE };

/* Zero has seen nothing; numbers begin with 1. */
struct seen {
	uint64_t epoch;
	uint64_t top;        /* the highest one */
	uint64_t mask;       /* bit i: top - i was taken */
	uint64_t nr_missing; /* that fell out of the mask and never came */
};

enum seen_as seen_take(struct seen *s, uint64_t seq);
/* All up to there were taken, or given up. */
uint64_t seen_upto(const struct seen *s);

#endif
