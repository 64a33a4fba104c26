/* What a live variance costs the program: measured in it where that can be (capture/probe/turns.h),
 * counted where it cannot, and kept below the budget (capture/probe/budget.h). */
#ifndef CULPRIT_CLI_VARIANCE_COST_H
#define CULPRIT_CLI_VARIANCE_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/probe/budget.h"
#include "capture/probe/turns.h"

struct session;

/* Sums of the session up to the moment when they were last charged. */
struct charged {
	int64_t ns, own_ns, stacks_ns;
	uint64_t stops_ns, nr_calls, nr_changes, uprobes_ns;
};

/* How long threads have run, and were kept from it. */
struct ran {
	int64_t ns; /* when */
	double run, wait;
	unsigned nr; /* threads */
};

struct account {
	struct budget budget;
	struct turns turns;
	struct turns_cost cost; /* as the turns tell by now */
	uint64_t nr_found;      /* turns, when it was asked */
	struct charged charged;
	int64_t cpu_ns, cpu_at;
	double processors; /* that the program uses */
	double delayed;    /* for each ns that its threads run: so long they wait for a processor */
	struct ran ran;    /* when that was asked */
	double lanes;      /* our code takes 1 ns: the program loses so much less of its time */
	uint64_t ticks, idle_ticks; /* of the machine, as it counts them */
	double taken;               /* of our own work, what nobody had a processor to spare for */
	double loop_ns;   /* what we did to the program, by what that takes in a loop, … */
	double rate;      /* … in a ns of watching, and … */
	double call_rate; /* … calls, of which there are as many in pauses */
	double times[2];  /* calls and switches as parts of its time, by what a loop takes */
};

/* As shares of the program's time. */
struct overhead {
	double all, low, high;
	double lost[NR_LOST];
	double call_ns;
	bool is_measured; /* how much more than in a loop our code costs */
};

/* From now on the program is watched; what it took to get there is paid back later. */
void cost_begin(struct session *s);
/* Charges what was lost since it was last asked. */
void cost_charge(struct session *s);
/* A while of watching, or a pause, begins. */
void cost_turn(struct session *s, bool is_watched);
/* Whether a pause would tell what watching costs, which matters and is not known well. */
bool cost_wants_pause(const struct session *s);
/* Whether watching takes so much of the budget that little else can be done meanwhile. */
bool cost_is_dear(const struct session *s);
/* Whether watching takes so little that a pause would pay back hardly more than going on does. */
bool cost_is_cheap(const struct session *s);
/* What one call costs in this program. */
double cost_of_call(const struct session *s);
struct overhead cost_overhead(const struct session *s);
/* Processor time of all processes that are watched, as long as they are there. who: a number that
 * changes when others are there. */
int64_t cost_cpu_ns(struct session *s, uint64_t *who);

#endif
