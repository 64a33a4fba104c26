/* How threads run, wait and wake each other, seen by eBPF where the kernel switches between them.
 */
#ifndef CULPRIT_CAPTURE_SCHED_H
#define CULPRIT_CAPTURE_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/call.h"

struct error;
struct sched;

struct sched_counts {
	uint64_t nr_changes, nr_dropped;
	uint64_t nr_late; /* told after later ones had been */
	double change_ns; /* what one costs the threads, as the kernel counts; 0: not known yet */
};

bool sched_is_built(void);
/* Watches the processes given and those that they make, until sched_close or the end of this
 * process. */
int sched_open(struct sched **s, const int *pids, size_t nr, struct error *err);
int sched_add(struct sched *s, int pid, struct error *err);
/* What happened since, in the order of time as far as processors agree (within 1 ms); changes of
 * one thread are in order. *until: all before this was told. */
int sched_read(struct sched *s,
	       int (*take)(void *to, const struct thread_change *c, size_t nr, struct error *err),
	       void *to, int64_t *until, struct error *err);
/* While paused nothing is told, which costs next to nothing; processes that are made are followed.
 */
void sched_pause(struct sched *s, bool is_paused);
void sched_count(const struct sched *s, struct sched_counts *c);
void sched_close(struct sched *s);

#endif
