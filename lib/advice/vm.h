/*
 * Runs advice in place: freestanding, bounded, without memory of its own but some KiB of stack.
 *
 * A program was verified (src/query/advice_verify.h) before it was put where it runs, by who put it
 * there. What it reads of the bag may be a stranger's, and is checked.
 */
#ifndef CULPRIT_LIB_ADVICE_VM_H
#define CULPRIT_LIB_ADVICE_VM_H

#include "lib/advice/bag.h"
#include "lib/advice/value.h"
#include "wire/advice.h"

#define ADVICE_ROW_INCOMPLETE 1u /* it was made of a slot that has lost tuples */
#define ADVICE_ROW_CUT 2u        /* a text in it was longer */

/* What EMIT tells: borrowed, until it returns. */
struct advice_row {
	const struct advice_program *program;
	const struct advice_value *columns; /* program->nr_columns: keys, or the cells of a row */
	const struct advice_total *totals;  /* program->nr_totals: what this row adds to each */
	uint64_t times;                     /* how many equal rows it stands for */
	uint32_t flags;
};

/* Filled by the caller; counters only grow. */
struct advice_out {
	void *to;
	void (*emit)(void *to, const struct advice_row *row);
	uint64_t nr_emitted;    /* rows */
	uint64_t nr_packed;     /* tuples */
	uint64_t nr_incomplete; /* runs that read a slot that has lost tuples */
	uint64_t nr_lost;       /* tuples that found no room in the bag */
	uint64_t nr_cut;        /* rows and tuples with a text that was cut */
	uint64_t nr_mistyped;   /* expressions whose types did not fit: they gave null */
	uint64_t nr_beyond;     /* runs that ended at ADVICE_ROWS */
	uint64_t nr_damaged;    /* entries of the bag that made no sense */
};

/* inputs: by number; those of program->inputs are set. time: ns, of a clock that all processes of
 * the host share. bag may be NULL where the program neither packs nor unpacks. */
void advice_run(const struct advice_program *p, const struct advice_value *inputs, struct bag *bag,
		struct bag_writer *writer, uint64_t time, struct advice_out *out);

#endif
