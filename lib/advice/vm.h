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

struct bag_spill;

/* Filled by the caller; counters only grow. */
struct advice_out {
	void *to;
	void (*emit)(void *to, const struct advice_row *row);
	struct bag_spill *spill; /* where tuples go that find no room; NULL: they are lost */
	uint64_t nr_emitted;     /* rows */
	uint64_t nr_packed;      /* tuples */
	uint64_t nr_incomplete;  /* runs that read a slot that has lost tuples */
	uint64_t nr_lost;        /* tuples that found no room in the bag */
	uint64_t nr_cut;         /* rows and tuples with a text that was cut */
	uint64_t nr_mistyped;    /* expressions whose types did not fit: they gave null */
	uint64_t nr_beyond;      /* runs that ended at ADVICE_ROWS */
	uint64_t nr_damaged;     /* entries of the bag that made no sense */
	uint64_t nr_spilled;     /* tuples that were spilled as they were packed */
	uint64_t nr_deferred;    /* runs that are finished elsewhere */
	uint64_t nr_dropped;     /* … that could not be told */
};

/* inputs: by number; those of program->inputs are set. time: ns, of a clock that all processes of
 * the host share. bag may be NULL where the program neither packs nor unpacks. */
void advice_run(const struct advice_program *p, const struct advice_value *inputs, struct bag *bag,
		struct bag_writer *writer, uint64_t time, struct advice_out *out);

/* What is in the slot of a child: entries, as in a bag, of which none stands for others. Groups
 * that are summed up stand beside their equals. */
struct advice_pile {
	const uint64_t *words;
	size_t nr;
	bool is_incomplete;
};

/* For runs that are finished where they were not begun. */
struct advice_finish {
	const struct advice_pile *piles; /* by child */
	uint32_t nr_rows_max;
	void *to;
	/* Where a tuple that is packed goes; NULL: there is no room. */
	uint64_t *(*tuple)(void *to, size_t nr, size_t nr_key_words);
};
/* Whether the stage has a tuple here, even if its joins leave it none. */
bool advice_finish(const struct advice_program *p, const struct advice_value *inputs,
		   const struct advice_finish *how, struct advice_out *out);

#endif
