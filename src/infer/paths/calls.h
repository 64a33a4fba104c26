/* A call and its return, and the window of calls among which parents are looked for. */
#ifndef CULPRIT_INFER_PATHS_CALLS_H
#define CULPRIT_INFER_PATHS_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

#define CALL_NONE UINT32_MAX  /* no parent: a root */
#define CALL_OPEN INT64_MAX   /* in t4: the return was not seen yet */
#define EVENT_NONE UINT64_MAX /* in sent and returned: there was no such message */

/* 72 bytes for two messages. */
struct call {
	int64_t t1, t4;          /* when the call and its return were sent */
	uint64_t sent, returned; /* the numbers of the two events in the store */
	uint64_t position;       /* of the call message among all messages, from 1 */
	uint32_t from, to;       /* nodes, as numbered by the feed */
	uint32_t parent;         /* position in the window, or CALL_NONE */
	float confidence;        /* in the parent */
	uint32_t title;          /* what was asked for, as numbered by the feed; 0 for nothing */
	uint32_t trace;          /* hash of the id of the request that it names; 0 for none */
	bool is_decided;         /* before this window is looked at */
	bool no_call;            /* only the return was seen, t1 is a guess */
	bool no_return;          /* only the call was seen, t4 is a guess */
	bool is_sent;            /* a message that asks for no answer; open until it is placed */
};

/* Two that name different requests belong to different requests. */
static inline bool call_is_foreign(uint32_t trace, uint32_t other)
{
	return trace && other && trace != other;
}

/* Another parent that a call could have. */
struct alternative {
	uint32_t call;     /* position in the window */
	float share;       /* how likely that one is */
	uint64_t position; /* of the message that made the other parent */
};

/* Calls in the order of t1. While parents are looked for, none of them is open. */
struct window {
	VEC(struct call) calls;
	VEC(struct alternative) alternatives; /* in any order; see alternatives.h */
	uint32_t nr_nodes;
	bool *is_source;          /* by node: never receives a call, so what it calls are roots */
	bool (*is_stopped)(void); /* asked now and then, true: leave off; may be NULL */
};

/* Puts more calls, in the order of t1, among those of the window; those that were there go from
 * their place to to[place]. */
void window_merge(struct window *w, const struct call *more, size_t nr, uint32_t *to);
/* Takes out the calls for which to[place] is CALL_NONE; to[place] of the others becomes where they
 * went. */
void window_drop(struct window *w, uint32_t *to);

/* For every node the calls that it receives and those that it makes, in the order of t1. */
struct sides {
	uint32_t *in_first, *in;   /* in[in_first[node] ... in_first[node + 1]) */
	uint32_t *out_first, *out; /* likewise */
};

void sides_init(struct sides *s, const struct window *w);
void sides_done(struct sides *s);

#endif
