/*
 * What one thread did, as far as it may still belong to an interval: calls and waits, each behind
 * what happened in it, as they end.
 *
 * A call is the last of the items that it is made of (size of them), so that what is not yet in a
 * call, the tops, is found from the end by steps of their sizes. A call takes what began after it.
 */
#ifndef CULPRIT_INFER_INTERVALS_THREAD_LOG_H
#define CULPRIT_INFER_INTERVALS_THREAD_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/call.h"

/* From so many items on, equal ones that have the same parent become one. */
#define THREAD_LOG_MAX 16384

struct log_item {
	int64_t start, end;
	int64_t ns;        /* less than end - start where several became one */
	uint32_t function; /* or PART_WAIT + enum wait_why */
	uint32_t site;
	uint32_t nr;         /* of calls that this stands for */
	uint32_t size;       /* of items: itself, and those below in front of it */
	uint32_t nr_amounts; /* of the calls, those that told an amount of work, … */
	double amount;       /* … and all of it */
};

/* Zero is empty. */
struct thread_log {
	VEC(struct log_item) items;
	size_t first;     /* those in front were forgotten */
	size_t fold_at;   /* 0: at THREAD_LOG_MAX */
	uint64_t nr_left; /* items that were one too many: their time is their parent's */
};

void thread_log_done(struct thread_log *l);
void thread_log_clear(struct thread_log *l);
/* False when the call began amid calls that became one: what of them is in it is not known, and
 * they stay outside. */
bool thread_log_call(struct thread_log *l, const struct function_call *c);
void thread_log_wait(struct thread_log *l, int64_t start, int64_t end, enum wait_why why);
/* Forgets tops that ended before. */
void thread_log_forget(struct thread_log *l, int64_t ns);

#endif
