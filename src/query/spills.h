/*
 * The plan for full bags: keeps tuples that were spilled (wire/spill.h), and finishes runs of
 * advice that need them, where all of them come together.
 *
 * A run waits until all that its ids lead to has come, since threads are not read in the order of
 * what happened; what has not come in time was lost, and the rows say that they are incomplete.
 */
#ifndef CULPRIT_QUERY_SPILLS_H
#define CULPRIT_QUERY_SPILLS_H

#include <stddef.h>
#include <stdint.h>

struct advice_program;
struct advice_row;
struct spills;

struct spills_use {
	void *ctx;
	/* Verified; NULL: there is no such query any more. */
	const struct advice_program *(*program)(void *ctx, uint32_t query, uint16_t piece);
	void (*emit)(void *ctx, const struct advice_row *row);
	size_t bytes_max; /* of what is kept; the oldest goes beyond; 0: 64 MiB */
	int64_t wait_ns;  /* how long a run waits; 0: 3 s */
};

/* Since they were last told. */
struct spills_counts {
	uint64_t nr_records;    /* of tuples */
	uint64_t nr_finished;   /* runs */
	uint64_t nr_emitted;    /* rows of them */
	uint64_t nr_missing;    /* spills that runs needed, and that had not come */
	uint64_t nr_incomplete; /* runs that lacked some */
	uint64_t nr_forgotten;  /* records that went for others */
	uint64_t nr_dropped;    /* runs that went without being finished */
	uint64_t nr_broken;     /* records that make no sense */
	uint64_t nr_mistyped, nr_cut, nr_beyond; /* as struct advice_out has them */
};

struct spills *spills_new(const struct spills_use *u);
void spills_free(struct spills *s);
/* A record of a stranger: it is copied, or counted as broken. now_ns: of any clock that goes on. */
void spills_take(struct spills *s, const uint64_t *words, size_t nr, int64_t now_ns);
/* Finishes what has come together. Of query `last`, or of SPILLS_ALL, nothing more will come: what
 * is there has to do. */
#define SPILLS_ALL UINT32_MAX
void spills_finish(struct spills *s, int64_t now_ns, uint32_t last);
/* How many runs wait. */
size_t spills_waiting(const struct spills *s);
void spills_tell(struct spills *s, struct spills_counts *c);

#endif
