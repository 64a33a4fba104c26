/*
 * What every live observer is given, and how it is asked to behave.
 *
 * An observer is one function, X_record(const struct X_options *, const struct capture *, err),
 * that returns when recording is over: 0, or a failure. It does, in this order,
 *
 *   1. open and attach everything; a failure here (no right, no such interface) is a sentence;
 *   2. sink->file once, for what the events come from (path and name say what, format "live …");
 *   3. capture_ready: the caller now starts the command that is watched, if there is one;
 *   4. until capture_is_over, which it asks at least every CAPTURE_LOOK_NS: deliver to sink->events
 *      (batches, strings borrowed for the call, times in ns of the wall clock), and capture_tell;
 *   5. take what its buffers still hold, detach, count what was dropped in sink->losses.
 *
 * All on the thread that called. Memory is bounded: when a buffer is full, drop and count.
 */
#ifndef CULPRIT_CAPTURE_CAPTURE_H
#define CULPRIT_CAPTURE_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

struct error;
struct sink;

#define CAPTURE_LOOK_NS (100 * NS_MS)

/* How it goes, since the beginning. */
struct capture_seen {
	uint64_t nr_seen;    /* packets, or system calls on sockets */
	uint64_t nr_dropped; /* that came too fast */
};

/* Whatever is zero does not limit. */
struct capture_limits {
	int64_t for_ns;  /* from the moment that everything is attached */
	uint64_t nr_max; /* of what nr_seen counts */
};

/* Filled by the caller. The functions may be NULL; they get to. */
struct capture {
	struct sink *sink;
	struct capture_limits limits;
	void *to;
	/* Everything is attached; negative ends the recording. */
	int (*ready)(void *to, struct error *err);
	/* Someone wants it to end: a signal, or the command has ended. */
	bool (*is_stopped)(void *to);
	void (*tell)(void *to, const struct capture_seen *seen);
};

/* Where an observer stands; zero before capture_ready. */
struct capture_state {
	int64_t began; /* time_tick */
	struct capture_seen seen;
};

int capture_ready(const struct capture *c, struct capture_state *s, struct error *err);
bool capture_is_over(const struct capture *c, const struct capture_state *s);
void capture_tell(const struct capture *c, const struct capture_state *s);
/* How long to wait for the next thing to come, at most CAPTURE_LOOK_NS. */
int64_t capture_wait_ns(const struct capture *c, const struct capture_state *s);

#endif
