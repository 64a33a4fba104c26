/*
 * Semantic intervals of a running program: calls, marks and the states of threads become requests,
 * whose spans are calls and waits along the critical path, and hand-offs between threads.
 *
 * A stream: memory grows with intervals that are under way, not with calls.
 */
#ifndef CULPRIT_INFER_INTERVALS_INTERVALS_H
#define CULPRIT_INFER_INTERVALS_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "model/call.h"
#include "model/request.h"

struct error;
struct losses;
struct intervals;

/* What a function means for intervals. */
enum interval_role {
	ROLE_NONE,  /* a call like others */
	ROLE_WHOLE, /* each call is an interval, unless it is in another one of its thread. A mark
		       at its entry tells that at once, and may name it for those that carry it;
		       without, intervals are told 20 ms later */
	ROLE_BEGIN, /* its mark begins the interval that the value names; without a value: the
		       thread's */
	ROLE_END,
	ROLE_CARRY, /* its thread works for the interval named by the mark until the next mark; once
		       the call has ended, until it waits or goes on with what it did before */
	ROLE_PUT,   /* the thread hands the interval on: enqueue */
	ROLE_TAKE,  /* and here it is taken: dequeue */
};

struct interval_function {
	struct str name;
	enum interval_role role;
};

/* One node of the tree of an interval: the time of the critical path in a function below others. */
struct interval_part {
	uint32_t parent;   /* position; UINT32_MAX for the root */
	uint32_t function; /* number; or PART_BODY, PART_WAIT + enum wait_why */
	uint32_t site;
	int64_t ns;              /* of the critical path, what is below included */
	int64_t waits[NR_WAITS]; /* of this, how it waited, itself and below */
	uint32_t nr_calls;
	uint32_t nr_amounts; /* of them, those that told an amount of work, … */
	double amount;       /* … and all of it */
};
#define PART_BODY 0xffffff00u
#define PART_WAIT 0xffffff10u

struct interval {
	uint64_t id, value;
	int64_t start, end;
	uint32_t process, thread; /* where it began */
	const struct interval_part
		*parts; /* parents before children; children add up to their parent */
	size_t nr_parts;
	bool is_partial;                 /* records of it were lost, or a part was guessed */
	const struct request_body *body; /* spans and edges; NULL where it was not asked for */
};

/* Waits in one function that were ended by threads in another one, of whatever interval: who held
 * the lock, who filled the queue. */
struct interval_wake {
	uint32_t waits_in,
		woken_by; /* the innermost functions; UINT32_MAX: in none that is known */
	enum wait_why why;
	uint64_t nr;
	int64_t ns; /* in all */
};

struct intervals_options {
	const struct interval_function *functions; /* by number */
	size_t nr_functions;
	const char *type;      /* of the requests */
	struct losses *losses; /* intervals that never ended, marks without value, … */
	/* Whether spans are wanted of this one (its id is not yet given), asked when it ended: of
	 * one thread in the order of ends. NULL: never. */
	bool (*wants_body)(void *to, const struct interval *v);
	int (*interval)(void *to, const struct interval *v, struct error *err);
	void *to;
};

int intervals_open(struct intervals **s, const struct intervals_options *o, struct error *err);
/* The set of functions grew: numbers stay. */
int intervals_functions(struct intervals *s, const struct interval_function *v, size_t nr);
int intervals_call(struct intervals *s, const struct function_call *c, size_t nr,
		   struct error *err);
int intervals_mark(struct intervals *s, const struct mark *m, size_t nr, struct error *err);
int intervals_change(struct intervals *s, const struct thread_change *c, size_t nr,
		     struct error *err);
/* All threads of the process stood still between, told when it was over: a collection of garbage.
 */
void intervals_stop(struct intervals *s, uint32_t process, int64_t from, int64_t to);
/* What the thread waited for between was a lock, whatever it looked like; told afterwards. */
void intervals_lock(struct intervals *s, uint32_t process, uint32_t thread, int64_t from,
		    int64_t to);
/* Something was lost between: of one thread, or (0, 0) of all. Intervals that it may be part of are
 * marked and counted. To be told before the settling that it concerns. */
void intervals_gap(struct intervals *s, uint32_t process, uint32_t thread, int64_t from,
		   int64_t to);
/* All that happened before was told: intervals that ended by then are given out, in order of their
 * ends. */
int intervals_settle(struct intervals *s, int64_t until, struct error *err);
/* Who ended waits in intervals so far, the longest first; at most max. */
size_t intervals_wakes(const struct intervals *s, struct interval_wake *out, size_t max);
/* The last of it. */
int intervals_close(struct intervals *s, struct error *err);

#endif
