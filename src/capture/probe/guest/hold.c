/*
 * The wait is the thread's own: short sleeps, as long as the region says so and its time has not
 * come. So nothing has to be done for it to go on, whoever of us is killed, and nobody outside sees
 * a process that is stopped.
 */
#include "capture/probe/guest/hold.h"

#include "capture/probe/guest/guest.h"

#define SYS_NANOSLEEP 35
#define NAP_NS 1000000

static bool is_named(const char *name, const char *is)
{
	size_t i = 0;

	if (!name)
		return false;
	while (i + 1 < sizeof(((struct probe_hold *)0)->name) && is[i] && name[i] == is[i])
		i++;
	return !is[i] && !name[i];
}

static bool change(struct probe_hold *h, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&h->state, &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

void hold_here(const struct entered *e)
{
	struct probe_hold *h = &culprit_code.region->hold;
	struct {
		int64_t s, ns;
	} nap = { 0, NAP_NS };

	if (__atomic_load_n(&h->state, __ATOMIC_ACQUIRE) != PROBE_HOLD_ARMED ||
	    !is_named((const char *)e->rsi, h->name) ||
	    !change(h, PROBE_HOLD_ARMED, PROBE_HOLD_WAITS))
		return;
	h->since = now();
	while (__atomic_load_n(&h->state, __ATOMIC_ACQUIRE) == PROBE_HOLD_WAITS &&
	       now() < __atomic_load_n(&h->until, __ATOMIC_RELAXED))
		guest_call(SYS_NANOSLEEP, (long)&nap, 0, 0, 0, 0, 0);
	change(h, PROBE_HOLD_WAITS, PROBE_HOLD_RAN_OUT);
}
