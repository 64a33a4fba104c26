/* A run of advice while it lasts: what unpacks and reckons (vm.c), sums up (sums.c) and packs
 * (pack.c) share. */
#ifndef CULPRIT_LIB_ADVICE_RUN_H
#define CULPRIT_LIB_ADVICE_RUN_H

#include "lib/advice/spill.h"
#include "lib/advice/vm.h"

/* The tuples of a child, one after another. */
struct cursor {
	const struct bag_entry *entry;
	const uint64_t *at, *end;
	const uint64_t *halves; /* of the tuple at hand */
	uint64_t weight;
	uint32_t left; /* tuples of the entry */
	uint32_t child;
};

struct run {
	const struct advice_program *p;
	const struct advice_value *inputs;
	struct bag *bag;
	struct bag_writer *writer;
	struct advice_out *out;
	const struct advice_finish *finish; /* or NULL: it runs in place */
	uint64_t time;
	struct bag_pending pending;
	struct spilling over; /* where tuples of this run go, once there was no room */
	uint32_t flags;       /* of rows */
	uint32_t nr_rows;
	uint32_t depth;   /* cursors at work */
	uint32_t nr_over; /* tuples that went there */
	bool exists, has_pending, is_over;
	uint8_t stack[ADVICE_CHILDREN]; /* where each was unpacked */
	struct cursor cursors[ADVICE_CHILDREN];
	struct advice_value r[ADVICE_REGISTERS];
};

/* vm.c: the first and the next entry of a child, and its next tuple, into registers. */
const struct bag_entry *run_next_entry(const struct run *r, uint32_t child,
				       const struct bag_entry *after);
bool run_next_tuple(struct run *r, struct cursor *c, uint32_t to);
/* sums.c: the next group of a child that is summed up: its keys, and what its aggregates say. */
bool run_next_group(struct run *r, struct cursor *c, uint32_t to);

/* pack.c: the row at hand. */
void run_pack(struct run *r);
void run_emit(struct run *r);
/* After all rows of a run that packs in place. */
void run_pack_end(struct run *r);

#endif
