/* A line of slots that are filled in order, worked on in parallel, and drained in order again. */
#ifndef CULPRIT_BASE_PIPELINE_H
#define CULPRIT_BASE_PIPELINE_H

#include <stddef.h>

struct error;

/*
 * fill and drain are never called at the same time as themselves or each other, and see the slots
 * in the same order; work runs on other threads, one slot each. Memory is bounded by the slots
 * given.
 */
struct pipeline {
	int (*fill)(void *ctx, void *slot,
		    struct error *err);      /* 1 filled, 0 the end, negative failure */
	void (*work)(void *ctx, void *slot); /* its failures travel in the slot */
	int (*drain)(void *ctx, void *slot, struct error *err); /* 0, or negative failure */
	void *ctx;
};

/* Runs until fill says the end; with one worker or one slot everything happens on this thread. */
int pipeline_run(const struct pipeline *p, void **slots, size_t nr_slots, unsigned nr_workers,
		 struct error *err);

/* How many threads this machine can run at once, at least one, at most 64. */
unsigned pipeline_cores(void);

#endif
