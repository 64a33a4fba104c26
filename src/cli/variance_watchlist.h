/* Which functions of a running program are watched, round by round: those that the interval is
 * told by, and the callees of those that matter. */
#ifndef CULPRIT_CLI_VARIANCE_WATCHLIST_H
#define CULPRIT_CLI_VARIANCE_WATCHLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "capture/probe/probe.h"
#include "infer/intervals/intervals.h"

struct error;
struct functions;

/* Why one that is known is not watched. */
enum watch_out {
	WATCH_IN,
	WATCH_REFUSED, /* it cannot be patched; why says it */
	WATCH_HOT,     /* called so often that watching it costs more than the budget allows */
	WATCH_SHARED,  /* several functions call it, and each of them says more than it does */
};

struct java_method;

struct watch {
	uint32_t function; /* of functions.v */
	enum interval_role role;
	struct probe_function how; /* its id is the number in the list */
	enum watch_out out;
	const char *why;
	bool is_on;                   /* patched at this moment */
	bool is_static;               /* no function, but a static probe: capture/statics.h */
	struct java_method *java;     /* no function, but a method: cli/variance_java.h; or NULL */
	bool is_uprobe;               /* it could not be patched (why): capture/uprobes.h */
	bool is_expanded;             /* its callees are in the list */
	bool is_indirect;             /* it calls others that only stacks tell */
	uint8_t nr_looks;             /* at stacks, for whom it calls */
	uint32_t depth;               /* rounds that it took to come here */
	uint64_t nr_calls, nr_before; /* since the round began; up to the last look at the costs */
	struct str work;              /* what its value when it is left is called: an amount */
	bool is_work_told;            /* by the user: of all factors */
	uint8_t nr_works_tried;       /* by ourselves */
	uint64_t nr_hit;              /* of uprobes, when they were last looked at */
	double squares;               /* sum of squares of how long its calls took, in ns */
};

/* Zero is empty but for functions. */
struct watchlist {
	struct functions *functions;
	bool has_system;                     /* functions of the C library and the like as well */
	VEC(struct watch) v;                 /* the number of a function in calls and intervals */
	struct map at;                       /* 1 + number, by function */
	VEC(struct interval_function) roles; /* the same for infer/intervals */
};

void watchlist_done(struct watchlist *p);
/* The number of the function in the list, which may be there already. */
uint32_t watchlist_add(struct watchlist *p, uint32_t function, enum interval_role role,
		       uint32_t depth);
/* The number of a static probe, which is no function. */
uint32_t watchlist_add_static(struct watchlist *p, struct str name, enum interval_role role);
/* The number of a method of a Java class, which is new; name: what it is told by. */
uint32_t watchlist_add_java(struct watchlist *p, struct java_method *java, struct str name,
			    enum interval_role role, uint32_t depth);
/* Adds a function that another one is seen to call, unless nothing is to be learned of it. */
void watchlist_meet(struct watchlist *p, uint32_t function, uint32_t depth);
/* Adds the functions that this one calls; how many are new. */
size_t watchlist_expand(struct watchlist *p, uint32_t number, struct error *err);
/* The first that has the name, is watched and is not expanded; UINT32_MAX when there is none. */
uint32_t watchlist_find_leaf(const struct watchlist *p, struct str name);
/* The first from this number on that has the name, is watched and may call others that no stack has
 * told yet; UINT32_MAX when there is none. */
uint32_t watchlist_find_unclear(const struct watchlist *p, struct str name, uint32_t from);
/* How many are watched. */
size_t watchlist_nr_on(const struct watchlist *p);

/* Looks at the calls since it was last asked: takes out those that cost most, and tell least,
 * until what watching costs in the program is below the budget, a share of the processor time that
 * it used. Their numbers go to *out (at most max). */
size_t watchlist_cool(struct watchlist *p, double budget, double call_ns, int64_t cpu_ns,
		      uint32_t *out, size_t max);

#endif
