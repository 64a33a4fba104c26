#include "agent/jvm/stops.h"

#include <stdatomic.h>

#include "agent/jvm/guest.h"
#include "agent/jvm/machine.h"
#include "agent/jvm/order.h"

static _Atomic uint32_t pauses = ORDER_NONE, locks = ORDER_NONE;
static uint64_t began;          /* of the machine's one thread that is at work then */
static __thread uint64_t waits; /* a thread waits for one at a time */

static void events(const jvmtiEvent *v, size_t nr, bool are_on)
{
	for (size_t i = 0; i < nr; i++)
		(*machine)->SetEventNotificationMode(machine, are_on ? JVMTI_ENABLE : JVMTI_DISABLE,
						     v[i], NULL);
}

void stops_watch(uint32_t of_pauses, uint32_t of_locks)
{
	static const jvmtiEvent collections[] = { JVMTI_EVENT_GARBAGE_COLLECTION_START,
						  JVMTI_EVENT_GARBAGE_COLLECTION_FINISH };
	static const jvmtiEvent monitors[] = { JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
					       JVMTI_EVENT_MONITOR_CONTENDED_ENTERED };

	if (atomic_exchange(&pauses, of_pauses) != of_pauses)
		events(collections, 2, of_pauses != ORDER_NONE);
	if (atomic_exchange(&locks, of_locks) != of_locks)
		events(monitors, 2, of_locks != ORDER_NONE);
}

/* When it began, if anybody wants to know. */
static uint64_t begin(void)
{
	uint64_t tick = guest_tick();

	return guest_is_watched(tick) ? tick : 0;
}

static void end(uint64_t *since, uint32_t function)
{
	if (*since && function != ORDER_NONE)
		guest_tell(function, PROBE_KIND_CALL, *since, guest_tick());
	*since = 0;
}

void JNICALL stops_collection_began(jvmtiEnv *jvmti)
{
	(void)jvmti;
	began = begin();
}

void JNICALL stops_collection_ended(jvmtiEnv *jvmti)
{
	(void)jvmti;
	end(&began, atomic_load_explicit(&pauses, memory_order_relaxed));
}

void JNICALL stops_lock_waits(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject o)
{
	(void)jvmti, (void)env, (void)thread, (void)o;
	waits = begin();
}

void JNICALL stops_lock_has(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject o)
{
	(void)jvmti, (void)env, (void)thread, (void)o;
	end(&waits, atomic_load_explicit(&locks, memory_order_relaxed));
}
