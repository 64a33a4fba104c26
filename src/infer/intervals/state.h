/* What the builder of intervals knows between two calls of it: threads, intervals under way, and
 * those that ended and wait for their turn. */
#ifndef CULPRIT_INFER_INTERVALS_STATE_H
#define CULPRIT_INFER_INTERVALS_STATE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "infer/intervals/call_tree.h"
#include "infer/intervals/intervals.h"
#include "infer/intervals/thread_log.h"
#include "model/loss.h"

/* A call may end so much later than the interval that it is in, and is still seen to be around it.
 */
#define HOLD_NS INT64_C(20000000)
#define UNDER_WAY_MAX 65536
#define SEGMENTS_MAX 4096 /* of one interval */
#define WAITS_MAX 4096    /* of one segment, those that somebody ended */
#define NO_THREAD UINT32_MAX

/* An interval that ended, with all that is told of it. */
struct done_interval {
	struct interval v;
	struct request_body body;
	struct arena arena; /* of the body */
	struct interval_part parts[];
};

/* Somebody ended a wait. */
struct woken_wait {
	int64_t from, woken;
	uint32_t waker; /* number of the thread */
	enum wait_why why;
};

struct under_way;

/* An interval that may be over, and its memory used again. */
struct way_ref {
	struct under_way *way; /* NULL: none */
	uint64_t serial;
};

/* The interval was handed on. */
struct handed_on {
	uint32_t thread; /* NO_THREAD: by nobody known */
	int64_t ns;
};

/* A stretch in which a thread works for one interval. */
struct segment {
	struct under_way *of; /* NULL once it is needed no more */
	uint32_t thread;
	uint32_t opener;    /* the function whose mark began it */
	int64_t start, end; /* INT64_MAX while it lasts */
	int64_t idle_ns;    /* since when it waits for more work, if it does; else INT64_MAX */
	struct handed_on from;
	bool is_call; /* ends when the call of opener does … */
	bool is_tail; /* … which it did: it lasts until the thread turns to something else */
	struct thread_log log;
	VEC(struct woken_wait) waits;
};

/* An interval that began. */
struct under_way {
	uint64_t value;
	bool has_value, is_ended, has_gap;
	uint32_t function;
	uint32_t thread, end_thread;
	int64_t start, end;
	uint64_t serial;            /* another one when its memory is used again */
	VEC(struct handed_on) puts; /* that nobody took; from next_put on */
	size_t next_put;
	VEC(struct segment *) segments;   /* as they began */
	struct under_way *before, *after; /* by start */
	struct under_way *same; /* the next one with such a value, or of those to be used again */
};

/* A function was entered that makes an interval of each call, or that carries one. */
struct whole_entry {
	int64_t ns;
	uint32_t function;
	struct way_ref before; /* what the thread worked for when a carrying call began */
};

/* A wait that another thread ended, while the functions of both are not known: calls are told when
 * they end. */
struct wake_note {
	int64_t from, woken;
	uint32_t waits_in, woken_by;
	enum wait_why why;
	uint8_t nr_open; /* of the two; 0: the place is free */
};

struct track {
	uint32_t process, thread;
	VEC(struct function_call) queue;
	size_t queue_at;
	struct thread_log idle;          /* what it does for nobody */
	struct segment *at;              /* what it works for; NULL: nobody */
	VEC(struct whole_entry) carries; /* calls that it is in */
	VEC(struct segment *) held;      /* ended, and not given out; by end */
	VEC(struct whole_entry) whole;
	struct way_ref whole_of, own;      /* of one call; without a value */
	int64_t told_ns;                   /* intervals up to here were told */
	VEC(struct done_interval *) maybe; /* may turn out to be inside another one */
	int64_t gone_ns;                   /* INT64_MAX while the thread is there */
	int64_t off_ns, woken_ns;          /* 0: it runs; it was not woken */
	int64_t mark_ns;                   /* of the last mark */
	int64_t wake_ns;                   /* it went on after a wait */
	enum wait_why why;
	uint32_t waker;
	VEC(uint32_t) waited, woke; /* notes that its calls are to tell of, in the order of time */
	struct handed_on made_by;   /* the thread that woke it last while it worked … */
	struct way_ref made_for;    /* … for this one */
};

struct event_of {
	int64_t ns;
	uint64_t order; /* as they came */
	uint64_t value;
	int64_t start; /* EVENT_CALL_END */
	uint32_t track, function, other;
	uint8_t kind, detail;
	bool has_value;
};

enum { OCCASION_MARK, OCCASION_CALL_END, OCCASION_CHANGE, OCCASION_STOP, OCCASION_LOCK };

/* A process stood still. */
struct stop {
	int64_t from, to;
	uint32_t process;
};

struct gap {
	int64_t from, to;
	uint32_t process, thread; /* 0: of all */
};

struct intervals {
	struct intervals_options o;
	struct arena arena; /* names */
	VEC(struct interval_function) functions;
	VEC(bool) is_marked;  /* by function: a mark tells when it is entered */
	bool is_across;       /* marks tell of intervals, not calls alone */
	bool is_held;         /* nothing is given out before HOLD_NS passed */
	struct map by_thread; /* 1 + number */
	VEC(struct track) tracks;
	VEC(uint32_t) order; /* of tracks, by process and thread */
	VEC(uint32_t) gone;  /* tracks of threads that ended, to be used again */
	size_t nr_gone;      /* that ended and are not yet there */
	uint32_t last;       /* the track that was looked for last */
	VEC(struct event_of) events;
	uint64_t nr_events;
	VEC(struct gap) gaps;
	VEC(struct stop) stops; /* the latest, in the order of their ends */
	bool has_changes;       /* states of threads are told */
	VEC(struct wake_note) notes;
	VEC(uint32_t) free_notes;
	VEC(struct interval_wake) wakes;
	struct map by_wake;  /* 1 + position in wakes */
	struct map by_value; /* struct under_way * */
	struct under_way *oldest, *newest, *spare_ways;
	VEC(bool) is_valued; /* by function: its marks have values */
	size_t nr_under_way, nr_values;
	uint64_t nr_serials;
	int64_t now_ns; /* of the event that is gone through */
	VEC(struct under_way *) ended;
	VEC(struct done_interval *) ready;
	VEC(struct thread_log) spare;
	struct call_tree tree;
	VEC(int64_t) waits; /* of each node, while parts are made */
	VEC(uint32_t) place;
	uint64_t nr_given;
	int64_t until;
};

static inline enum interval_role role_of(const struct intervals *s, uint32_t function)
{
	return function < s->functions.nr ? s->functions.v[function].role : ROLE_NONE;
}

static inline void intervals_lose(struct intervals *s, enum loss loss, uint64_t nr)
{
	if (s->o.losses)
		s->o.losses->count[loss] += nr;
}

static inline struct thread_log *track_log(struct track *t)
{
	return t->at ? &t->at->log : &t->idle;
}

/* threads.c: the thread's number, a new one on first sight. */
uint32_t track_find(struct intervals *s, uint32_t process, uint32_t thread);
/* Threads that ended are forgotten, once nothing that is under way can name them. */
void threads_settle(struct intervals *s);
void threads_close(struct intervals *s);

/* intervals.c */
void done_interval_free(struct done_interval *d);
/* The thread did not run until now: what it works for waited. */
void track_waited(struct intervals *s, struct track *t, int64_t ns);

/* stops.c: a process stood still until now. */
void stops_add(struct intervals *s, const struct event_of *e);
/* The thread has had to wait for a lock since. */
void stops_lock(struct intervals *s, struct track *t, int64_t from);
/* The thread waited; for what it waited while all stood still is told apart. */
void stops_wait(struct intervals *s, struct track *t, int64_t from, int64_t to, enum wait_why why);
/* What of the interval was waiting for that is a part of its own, whichever function it met. */
void stops_lift(struct call_tree *t);

/* Whether something of the thread between was lost. */
bool intervals_have_gap(const struct intervals *s, const struct track *t, int64_t from, int64_t to);

/* parts.c: makes an interval of the tree, whose first node is the root. */
struct done_interval *parts_done(struct intervals *s, const struct interval *v);

/* whole.c: the call that ended last in the thread's log is an interval, if it is in no other. */
void whole_ended(struct intervals *s, struct track *t, const struct function_call *c);
/* A function that makes intervals was entered. Returns whether it is in no other. */
bool whole_entered(struct intervals *s, struct track *t, const struct event_of *e);
/* A call that is no interval ended: entries after it began lead to calls that were never told. */
bool whole_heal(struct intervals *s, struct track *t, const struct function_call *c);
/* The entry of this call goes. Returns whether it is in no other. */
bool whole_leave(struct intervals *s, struct track *t, int64_t start, uint32_t function);
/* Those that can be in no other any more are ready. */
void whole_settle(struct intervals *s, struct track *t);

/* segments.c */
void segments_mark(struct intervals *s, const struct event_of *e);
void segments_call_end(struct intervals *s, const struct event_of *e);
/* The thread waits. */
void segments_off(struct intervals *s, struct track *t);
void segments_woken(struct intervals *s, struct track *t, int64_t ns, uint32_t waker);
/* A wait is over that another thread ended. */
void segments_waited(struct track *t, const struct woken_wait *w);
/* A call ended after the segments that it began in. */
void segments_late(struct track *t, const struct function_call *c);
/* The entry of a call was told, and its end never. */
void segments_lost(struct intervals *s, struct track *t);
void segments_settle(struct intervals *s);
void segments_close(struct intervals *s);

/* wakes.c: the thread's wait was ended by another one. */
void wakes_add(struct intervals *s, uint32_t track, const struct woken_wait *w);
/* A call of the thread ended: it is the innermost of what it holds. */
void wakes_call(struct intervals *s, struct track *t, const struct function_call *c);
/* What no call has told of by now is in none. */
void wakes_settle(struct intervals *s);
void wakes_done(struct intervals *s);

/* path.c: a stretch of the critical path on a thread. */
struct path_stretch {
	int64_t from, to;
	uint32_t thread; /* NO_THREAD: nobody worked for the interval */
};
struct path {
	VEC(struct path_stretch) v; /* from the end to the start, without gap or overlap */
	uint64_t nr_guessed;
};
/* The segment of the thread that holds the moment, its end included; NULL for none. */
const struct segment *path_segment(const struct under_way *w, uint32_t thread, int64_t ns);
void path_find(const struct under_way *w, struct path *p);

/* across.c: all that is told of it. */
struct done_interval *across_done(struct intervals *s, const struct under_way *w);

/* spans.c */
void spans_of_call(struct intervals *s, struct done_interval *d, const struct track *t,
		   const struct log_item *items, size_t nr);
void spans_of_segments(struct intervals *s, struct done_interval *d, const struct under_way *w,
		       const struct path *p);

#endif
