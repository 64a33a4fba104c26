/* The processor's time stamp counter as CLOCK_MONOTONIC: within a microsecond, never going back,
 * and the same tick is always the same time. */
#ifndef CULPRIT_CAPTURE_PROBE_TICKS_H
#define CULPRIT_CAPTURE_PROBE_TICKS_H

#include <stdint.h>

#include "base/vec.h"

struct error;

struct ticks_piece {
	uint64_t tick;
	int64_t ns;
	double ns_per_tick;
};

/* Zero is not yet set. */
struct ticks {
	VEC(struct ticks_piece) v;
	uint64_t first_tick;
	int64_t first_ns;
	double rate; /* ns for a tick, over all that was seen */
};

/* Takes a few milliseconds. Fails where the counter does not run evenly. */
int ticks_init(struct ticks *t, struct error *err);
void ticks_done(struct ticks *t);
/* To be called now and then, a few times in a second: keeps to the clock. */
void ticks_keep(struct ticks *t);
uint64_t ticks_now(void);
int64_t ticks_ns(const struct ticks *t, uint64_t tick);

#endif
