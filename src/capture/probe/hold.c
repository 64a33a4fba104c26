#include "capture/probe/hold.h"

#include <time.h>

#include "base/time.h"
#include "wire/probe_region.h"

#define LOOK_NS (1 * NS_MS)

static uint32_t state_of(const struct probe_region *r)
{
	return __atomic_load_n(&r->hold.state, __ATOMIC_ACQUIRE);
}

bool hold_is(const struct probe_region *r)
{
	return state_of(r) == PROBE_HOLD_ARMED || state_of(r) == PROBE_HOLD_WAITS;
}

bool hold_wait(const struct probe_region *r, int64_t patience_ns)
{
	int64_t until = time_tick() + patience_ns;

	while (state_of(r) == PROBE_HOLD_ARMED && time_tick() < until)
		nanosleep(&(struct timespec){ .tv_nsec = LOOK_NS }, NULL);
	return state_of(r) == PROBE_HOLD_WAITS;
}

bool hold_let_go(struct probe_region *r)
{
	uint32_t was = state_of(r);

	/* it may come, or go on by itself, meanwhile */
	while ((was == PROBE_HOLD_ARMED || was == PROBE_HOLD_WAITS) &&
	       !__atomic_compare_exchange_n(&r->hold.state, &was, PROBE_HOLD_LET_GO, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
	return was == PROBE_HOLD_WAITS;
}
