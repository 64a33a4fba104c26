/*
 * The places of threads in a watched process, and the rings that they tell into: found by the
 * thread pointer, taken over from threads that have ended.
 */
#ifndef CULPRIT_CAPTURE_PROBE_GUEST_THREAD_H
#define CULPRIT_CAPTURE_PROBE_GUEST_THREAD_H

#include "capture/probe/guest/guest.h"

/* The thread that runs this; NULL when there is no room for it. */
struct probe_thread *guest_thread_find(void);
/* The same where the thread begins: whoever had its place before is gone, even if the kernel has
 * given out the same number again. */
struct probe_thread *guest_thread_begin(void);
/* That of another, by its thread pointer (a pthread_t); NULL when it was never seen. */
struct probe_thread *guest_thread_known(uint64_t key);

static inline size_t guest_thread_number(const struct probe_thread *t)
{
	return (size_t)(t - culprit_code.own->threads);
}

#endif
