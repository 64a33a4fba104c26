/* The time as advice in processes is told it: the wall clock by the processor's ticks. */
#ifndef CULPRIT_CAPTURE_WEAVE_CLOCK_H
#define CULPRIT_CAPTURE_WEAVE_CLOCK_H

#include "capture/probe/ticks.h"
#include "wire/probe_region.h"

struct error;

struct weave_clock {
	struct ticks ticks;
	struct probe_clock last;
};

int weave_clock_open(struct weave_clock *c, struct error *err);
void weave_clock_close(struct weave_clock *c);
/* Never goes back, but for a clock that was set: what is a little off is caught up with. */
struct probe_clock weave_clock_now(struct weave_clock *c);
/* How many ns the wall clock is ahead of the one that ticks go by (time_tick). */
int64_t weave_clock_ahead(void);

#endif
