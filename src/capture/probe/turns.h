/*
 * What watching costs a program, found in the program itself: in turns it is watched and left
 * alone, and the processor time that a piece of its work takes is compared with what our code takes
 * in a loop that does nothing else (cost.h): there all that it needs is at hand, in a server not.
 */
#ifndef CULPRIT_CAPTURE_PROBE_TURNS_H
#define CULPRIT_CAPTURE_PROBE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#define TURNS_KEPT 64

/* As counters stand. */
struct turn_counts {
	int64_t cpu_ns;    /* processor time of the program */
	double loop_ns;    /* what we did to it, by what that takes in a loop */
	uint64_t nr_units; /* pieces of work */
	uint64_t who;      /* another number when other processes are counted */
};

/* What one piece of work took in a turn. */
struct turn {
	double nr_units, cpu_ns, loop_ns;
};

/* Zero has seen nothing. */
struct turns {
	struct turn_counts began;
	bool is_begun, is_watched, is_spoilt;
	struct turn before, watched; /* the last pause and what was watched after it */
	struct turn_found {
		double times, weight;
	} found[TURNS_KEPT];
	uint64_t nr_found; /* ever */
};

/* The turn before ends, another one begins. */
void turns_begin(struct turns *t, const struct turn_counts *now, bool is_watched);
/* What is under way cannot be compared: something else happened to the program. */
void turns_spoil(struct turns *t);

/* How many times as much as in a loop it costs; between low and high with 95 %. */
struct turns_cost {
	double times, low, high;
	bool is_measured; /* else what is usual */
};

struct turns_cost turns_cost(const struct turns *t);

#endif
