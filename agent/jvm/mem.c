/*
 * base/mem.h for a guest. There the tool aborts and no caller checks; here the work that asked is
 * left (mem_guarded). Who asks outside of such work cannot be told no: it waits and asks again, for
 * a JVM must not end because of us. Memory of work that was left stays lost: free() is not ours, so
 * nobody knows what was given back before.
 */
#include "agent/jvm/mem.h"

#include <setjmp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"

#define WAIT_NS 10000000

struct guarded {
	jmp_buf back;
	struct guarded *outer;
};

static _Thread_local struct guarded *innermost;
static _Atomic uint64_t nr_ended;

bool mem_guarded(void (*work)(void *data), void *data)
{
	struct guarded g = { .outer = innermost };

	/* signals are as they were: none of ours changes them */
	if (_setjmp(g.back)) {
		atomic_fetch_add(&nr_ended, 1);
		innermost = innermost->outer;
		return false;
	}
	innermost = &g;
	work(data);
	innermost = g.outer;
	return true;
}

uint64_t mem_nr_ended(void)
{
	return atomic_load(&nr_ended);
}

/* Returns only when it is worth asking again. */
static void mem_end(void)
{
	static const struct timespec wait = { .tv_nsec = WAIT_NS };

	if (innermost)
		_longjmp(innermost->back, 1);
	nanosleep(&wait, NULL);
}

void *mem_alloc(size_t bytes)
{
	return mem_realloc(NULL, bytes);
}

void *mem_zalloc(size_t bytes)
{
	void *p;

	while (!(p = calloc(1, bytes ? bytes : 1)))
		mem_end();
	return p;
}

void *mem_realloc(void *old, size_t bytes)
{
	void *p;

	while (!(p = realloc(old, bytes ? bytes : 1)))
		mem_end();
	return p;
}

size_t mem_bytes(size_t nr, size_t size)
{
	size_t bytes;

	/* no memory is that large, however long one waits */
	while (__builtin_mul_overflow(nr, size, &bytes))
		mem_end();
	return bytes;
}
