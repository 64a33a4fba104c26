#include "capture/probe/standing.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/probe/tracee.h"

#define STACK_MAX 65536u
#define STACK_MIN 8192u
#define STACKS_MAX (8u << 20) /* bytes of all threads: they stand still meanwhile */
#define CODE_SEGMENT 0x33
#define SYSCALL_BYTES 2u
#define FLAG_ALWAYS 2u
#define FLAGS_MAX (1u << 22)
#define LIBRARY_SIGNALS ((uint64_t)3 << 31) /* 32 and 33: the C library's own */

void standing_done(struct standing *s)
{
	vec_done(&s->places);
}

/* The kernel leaves instruction pointer, flags and segments side by side (struct sigcontext). */
void standing_search(struct standing *s, const uint64_t *words, size_t nr, uint64_t low,
		     uint64_t high)
{
	for (size_t i = 0; i + 2 < nr; i++)
		if (words[i] >= low && words[i] < high && words[i + 1] < FLAGS_MAX &&
		    words[i + 1] & FLAG_ALWAYS && (words[i + 2] & 0xffff) == CODE_SEGMENT)
			vec_push(&s->places, words[i]);
}

static bool has_handlers(int pid)
{
	unsigned long long caught = ~0ull;
	cleanup(fclose) FILE *f = NULL;
	char path[32], line[256];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "SigCgt: %llx", &caught) == 1)
			break;
	return caught & ~LIBRARY_SIGNALS;
}

/* A handler runs below what it has interrupted, or on a stack of its own: in both cases what the
 * kernel has kept is above its stack pointer. */
static void stacks_search(struct standing *s, const struct tracee *t, uint64_t low, uint64_t high)
{
	size_t room = STACKS_MAX / (t->threads.nr + 1);
	cleanup(free) uint64_t *words = NULL;

	room = room > STACK_MAX ? STACK_MAX : room < STACK_MIN ? STACK_MIN : room;
	words = mem_alloc(room);
	vec_each (&t->threads, v) {
		ssize_t got;

		if (!v->is_stopped)
			continue;
		got = pread(t->mem, words, room, (off_t)(v->regs.rsp & ~(uint64_t)7));
		if (got > 0)
			standing_search(s, words, (size_t)got / sizeof(*words), low, high);
	}
}

static int lower_first(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

void standing_read(struct standing *s, const struct tracee *t, uint64_t low, uint64_t high)
{
	vec_each (&t->threads, v)
		for (uint64_t at = v->regs.rip - (v->regs.orig_rax >> 63 ? 0 : SYSCALL_BYTES);
		     v->is_stopped && at <= v->regs.rip; at += SYSCALL_BYTES)
			/* a call that was interrupted is made again */
			if (at >= low && at < high)
				vec_push(&s->places, at);
	if (low < high && has_handlers(t->pid))
		stacks_search(s, t, low, high);
	if (s->places.nr)
		qsort(s->places.v, s->places.nr, sizeof(*s->places.v), lower_first);
}

bool standing_in(const struct standing *s, uint64_t address, uint64_t nr)
{
	size_t low = 0, high = s->places.nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->places.v[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->places.nr && s->places.v[low] < address + nr;
}
