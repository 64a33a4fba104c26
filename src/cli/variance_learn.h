/* What runs below functions that matter, learned from the stacks of the threads at this moment: so
 * calls by pointer are found, which no disassembly shows, and what lies many calls deep at once. A
 * thread that runs has to be stopped for it, so they are looked at little by little. */
#ifndef CULPRIT_CLI_VARIANCE_LEARN_H
#define CULPRIT_CLI_VARIANCE_LEARN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct map;
struct stacks;
struct watchlist;

#define LEARN_PROCESSES 8

/* Zero is at nothing. */
struct learning {
	struct watchlist *list;
	bool is_begun;
	VEC(uint32_t) numbers; /* of the functions that are looked into */
	unsigned nr_stacks;
	int64_t began, opened;
	struct {
		int pid;
		struct stacks *stacks;
	} open[LEARN_PROCESSES];
	size_t nr_open;
	struct learn_thread {
		size_t of; /* open */
		int tid;
		uint64_t idle; /* where it waits, with none of the functions on its stack */
	} turn[512];           /* threads, each once, from next on */
	size_t nr_turn, next;
	unsigned nr_passes; /* through all of them */
	int64_t held_ns;    /* threads were stopped for so long */
};

/* numbers: of the list. processes: those whose value is 1. */
void learn_begin(struct learning *l, struct watchlist *p, const struct map *processes,
		 const uint32_t *numbers, size_t nr);
/* Looks at one stack. What is seen below the functions is in the list then. LEARN_LATER: all
 * threads had their turn; LEARN_OVER: it has seen enough, or took too long. */
enum learn_step { LEARN_ON, LEARN_LATER, LEARN_OVER };
enum learn_step learn_one(struct learning *l);
void learn_done(struct learning *l);

#endif
