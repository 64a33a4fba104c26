/*
 * What the parts of our code in a watched process share. It runs in a stranger's process, maybe in
 * a signal handler: no library, no lock, no memory but what is there, no floating point (vector
 * registers are not saved).
 */
#ifndef CULPRIT_CAPTURE_PROBE_GUEST_GUEST_H
#define CULPRIT_CAPTURE_PROBE_GUEST_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/probe_region.h"

extern struct probe_code culprit_code __attribute__((visibility("hidden")));

/* As entry.S has pushed them; what is changed here is what the function gets. */
struct entered {
	uint64_t rbp, r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax, stub;
	uint64_t what;
	uint64_t slot[];
};

static inline uint64_t now(void)
{
	return __builtin_ia32_rdtsc();
}

/* A system call; errors are negative. */
long guest_call(long nr, long a, long b, long c, long d, long e, long f);
/* Whether memory can be read now. It may be looked up in what was found a moment ago. */
bool guest_memory_is_there(struct probe_thread *t, uint64_t at, size_t bytes);
/* A record of a call, or of a mark without a value, into the thread's ring. */
void guest_tell(struct probe_thread *t, uint32_t function, uint64_t kind, uint64_t start,
		uint64_t end);
bool guest_value_take(struct probe_thread *t, const struct probe_taking *k, uint64_t value,
		      uint64_t *out);

#endif
