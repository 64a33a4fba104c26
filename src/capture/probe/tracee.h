/*
 * A process that is held still for a moment, to be changed: all of its threads are stopped by
 * ptrace. When we die in between, they run on as if nothing had been.
 */
#ifndef CULPRIT_CAPTURE_PROBE_TRACEE_H
#define CULPRIT_CAPTURE_PROBE_TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include "base/vec.h"

struct error;
struct image;

struct tracee_thread {
	int tid;
	int signal;      /* that came while it was held, and goes on with it */
	bool is_stopped; /* else it is in the kernel, and will stop before it comes back */
	bool was_in_call;
	bool is_borrowed; /* makes calls for us */
	struct user_regs_struct regs;
};

/* Zero is none. */
struct tracee {
	int pid, mem; /* mem: /proc/PID/mem, open while it is held */
	VEC(struct tracee_thread) threads;
	int64_t since; /* CLOCK_MONOTONIC: the first of them stands still */
};

/* Threads that are still to be let go, by tracee_late: they were in the kernel all the time. */
struct tracee_late {
	VEC(int) tids;
};
int tracee_stop(struct tracee *t, int pid, struct tracee_late *late, struct error *err);
/* ns that it was held. */
int64_t tracee_go(struct tracee *t, struct tracee_late *late);
void tracee_late(struct tracee_late *late);

/* Whether it waits in a system call, which it may make again when it goes on. */
bool tracee_is_in_call(const struct tracee_thread *v);
/* It goes on there. */
void tracee_move(struct tracee_thread *v, uint64_t address);

int tracee_read(const struct tracee *t, uint64_t at, void *to, size_t n);
int tracee_write(const struct tracee *t, uint64_t at, const void *from, size_t n);

struct tracee_call {
	long nr;
	uint64_t args[6];
	int64_t result;
	int takes, takes_at; /* 1 + the number of the call whose result is that argument */
	const char *text;    /* its first argument, where it is one */
};
#define TRACEE_TEXT_MAX 32
#define TRACEE_CALLS_MAX 7

/* Whether one of its threads can make system calls for us: none can that has a signal to take
 * first. */
bool tracee_can_be_asked(struct tracee *t, const struct image *im);
/* System calls made by one of its threads. */
int tracee_calls(struct tracee *t, const struct image *im, struct tracee_call *calls, size_t nr,
		 struct error *err);

#endif
