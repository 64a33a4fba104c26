/* The Java half of a process that is woven: which methods have advice, as our agent in the machine
 * is told, and what hands bags on there. */
#ifndef CULPRIT_CAPTURE_WEAVE_JAVA_PROCESS_H
#define CULPRIT_CAPTURE_WEAVE_JAVA_PROCESS_H

#include <stdint.h>

struct buf;
struct error;
struct java_process;
struct probe_region;
struct woven_process;

/* *j stays NULL where the process is no Java machine. */
int java_process_enter(struct java_process **j, int pid, const struct probe_region *region,
		       struct error *err);
/* Everything is as it was there. NULL is fine, here and below. */
void java_process_leave(struct java_process *j);

/* A query wants bags to be handed on, or does no longer. */
void java_process_carry(struct java_process *j, uint32_t query);
void java_process_uncarry(struct java_process *j, uint32_t query);

/* Tells the agent what is wanted by now, if that has changed. told, or NULL: a line for each method
 * that cannot be woven, and for classes that are not there yet. */
int java_process_apply(struct woven_process *p, struct buf *told, struct error *err);
/* Less is wanted than before, which the agent is told a second later. */
void java_process_less(struct java_process *j);
/* Hears what the agent has done since, and tells it what is due. */
void java_process_tend(struct woven_process *p);

#endif
