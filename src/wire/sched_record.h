/* What happened to a thread, as the kernel's side of capture/sched tells it. */
#ifndef CULPRIT_WIRE_SCHED_RECORD_H
#define CULPRIT_WIRE_SCHED_RECORD_H

#include <stdint.h>

#define SCHED_RING_BYTES (16 << 20)
#define SCHED_CALLS_MAX \
	512 /* a power of two above the numbers of system calls that are told apart */
#define SCHED_PROCESSES_MAX 16384

enum sched_act {
	SCHED_OFF = 1,
	SCHED_ON,
	SCHED_WOKEN,
	SCHED_BORN,
	SCHED_GONE,
};

/* How the arguments of a system call tell what it waits for. */
enum sched_form {
	SCHED_PLAIN,
	SCHED_FUTEX,  /* detail: the operation; more: the value that is waited on */
	SCHED_FILE,   /* the first is a file; detail: its kind, more: the family of a socket */
	SCHED_NUMBER, /* the second is a number of files; more: that */
	SCHED_FIRST,  /* the first is */
};

enum sched_flag {
	SCHED_BLOCKED = 1, /* it cannot go on by itself */
	SCHED_BOUND = 2,   /* not even by a signal: TASK_UNINTERRUPTIBLE */
	SCHED_DISK = 4,    /* the kernel counts it as waiting for I/O */
	SCHED_KNOWN = 8,   /* who woke it is of the processes that are watched */
};

struct sched_record {
	uint64_t ns; /* CLOCK_MONOTONIC */
	uint32_t tgid, tid;
	/* WOKEN: who ran there, who did it or was only interrupted, 0 for the kernel; BORN: who
	 * made it */
	uint32_t other_tgid, other_tid;
	int16_t call; /* OFF: the system call that it is in, -1 for none; WOKEN: that the other is
			 in */
	uint8_t act, flags;
	uint32_t detail, more;
	uint32_t reserved;
};

#endif
