/*
 * Places of programs that are watched from outside, by the kernel (eBPF): system calls, and
 * functions and static probes that cannot be patched. Each time one is passed, what a tracepoint
 * exports there is told, with a copy of what the thread carried at that moment.
 */
#ifndef CULPRIT_CAPTURE_OUTSIDE_H
#define CULPRIT_CAPTURE_OUTSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/advice.h"

struct error;
struct outside;
struct outside_process;
struct outside_record;
struct probe_function;

/* Borrowed; of one thread in the order of time. bytes: behind its fields. */
typedef void outside_take(void *to, const struct outside_record *r, size_t bytes);

/* Nothing is watched yet. */
int outside_open(struct outside **o, outside_take *take, void *to, struct error *err);
/* Nothing is watched any more. */
void outside_close(struct outside *o);

/* Tells of this process and of those that it makes, from now on. */
int outside_process(struct outside *o, int pid, const struct outside_process *p, struct error *err);

/* What is told of a place. */
struct outside_wish {
	struct advice_taking takings[16]; /* OUTSIDE_TAKINGS */
	size_t nr_takings;
	bool is_bagged; /* with what the thread carries */
	bool is_open;   /* also of processes that nobody has named */
	bool is_end;    /* where the call ends */
};

/* A system call by its number. The number of the place. */
int outside_call(struct outside *o, int call, const struct outside_wish *w, struct error *err);
/* A function or static probe. pid: a process that has it; pids: those that get breakpoints, or with
 * none of them all that have its file. */
int outside_function(struct outside *o, const struct probe_function *how,
		     const struct outside_wish *w, int pid, const int *pids, size_t nr,
		     struct error *err);
/* It is not watched any more; its number stays its own until it is left. */
void outside_stop(struct outside *o, int place);
void outside_leave(struct outside *o, int place);

/* Hands on what was told since. */
int outside_read(struct outside *o, struct error *err);
/* Of one place, so far: what came too fast, or too deep. */
uint64_t outside_dropped(const struct outside *o, int place);
/* How often breakpoints of one were passed, so far, by whomever; 0 of a system call. */
uint64_t outside_passed(const struct outside *o, int place);

#endif
