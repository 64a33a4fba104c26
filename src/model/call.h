/* What a running program does: calls of its functions, marks of its intervals, and how its threads
 * run and wait. */
#ifndef CULPRIT_MODEL_CALL_H
#define CULPRIT_MODEL_CALL_H

#include <stdbool.h>
#include <stdint.h>

/* All times in ns of CLOCK_MONOTONIC. */

/* One call of a function, known when it ends: of one thread, calls come in the order of their
 * ends, so that callees come before their caller. */
/* (struct call is what a user typed: cli/command.h.) */
struct function_call {
	int64_t start, end;
	uint32_t function; /* the number that who asked for it gave it */
	uint32_t site;     /* of where it was called from; 0: not told */
	uint32_t process, thread;
	bool is_unwound; /* left by an exception or a jump: the end is when that was noticed */
	bool is_open;    /* had not ended when this was told */
	bool has_amount;
	uint64_t amount; /* of work: what was taken of it when it was left */
};

enum mark_place { MARK_ENTRY, MARK_EXIT };

/* A function was entered or left that tells about an interval, with the value that names it. */
struct mark {
	int64_t ns;
	uint64_t value;
	uint32_t function;
	uint32_t process, thread;
	enum mark_place place;
	bool has_value; /* false where it could not be read */
};

/* Why a thread does not run. */
enum wait_why {
	WAIT_NONE,
	WAIT_CPU,   /* it could, and has no processor: preempted, or woken and not yet on one */
	WAIT_LOCK,  /* a mutex, a semaphore */
	WAIT_QUEUE, /* a condition, a queue, a pipe from another thread of the program */
	WAIT_IO,    /* a disk, or a socket or pipe to somebody else */
	WAIT_SLEEP, /* it asked for time to pass */
	WAIT_OTHER,
	WAIT_GC, /* its virtual machine stands still: garbage, or other work of its own */
	NR_WAITS
};

enum thread_change_kind {
	THREAD_OFF,   /* stopped running; why: WAIT_CPU when it could go on */
	THREAD_ON,    /* runs */
	THREAD_WOKEN, /* may run; other: the thread that woke it, 0 for the kernel itself */
	THREAD_BORN,  /* other: who made it */
	THREAD_GONE,
};

struct thread_change {
	int64_t ns;
	uint32_t process, thread;
	uint32_t other, other_process;
	enum thread_change_kind kind;
	enum wait_why why; /* THREAD_OFF; THREAD_WOKEN: what it turned out to be, where that is
			      known only then */
	int16_t call;      /* THREAD_OFF: the system call that it waits in, -1 for none */
};

/* "cpu", "lock", …: what stands behind "wait:". */
const char *wait_why_name(enum wait_why why);

#endif
