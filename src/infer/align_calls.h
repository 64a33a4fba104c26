/* Calls and returns of a stretch of a run, each with the clock that showed its time. */
#ifndef CULPRIT_INFER_ALIGN_CALLS_H
#define CULPRIT_INFER_ALIGN_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/event.h"

struct skew;

#define ALIGN_OPEN INT64_MAX /* in end: the return was not seen */

/* A message as its clock showed it. */
struct align_message {
	int64_t ns;
	uint64_t id; /* hash; 0 for none */
	uint32_t from, to;
	uint32_t clock;
	enum message_op op;
};

struct align_call {
	int64_t start, end; /* as shown */
	int64_t latest;     /* end, or when it may have ended at the latest where that is a guess */
	uint32_t start_clock, end_clock; /* by these */
	uint32_t from, to;
	bool is_guess;  /* the return may be that of another call … */
	bool is_beside; /* … and others were under way at the same time */
};

/* Calls that were seen side by side. */
struct align_calls {
	VEC(struct align_call) v;
	bool is_whole; /* nothing was cut off before or behind */
};

/* Ties returns to calls, whatever the clocks say; the messages are put in another order. */
void align_pair(struct align_message *m, size_t nr, struct align_calls *calls);

/*
 * Says what must have come after what: a return after its call, and what a node calls while it
 * answers between the call and the return that it serves. nr_nodes: nodes are below that.
 */
void align_say(const struct align_calls *calls, uint32_t nr_nodes, struct skew *skew);

#endif
