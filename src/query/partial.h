/*
 * A query's result so far: of each group how many rows fell into it and what its aggregates have
 * seen. Two of them are put together exactly, in any order, and travel as bytes. The rows of a
 * query that does not aggregate are groups of equal rows.
 *
 * Whoever makes one (an agent, each second) begins it with partial_init, finds the group of each
 * row with partial_group and adds values or halves to it. Whoever shows one asks partial_answer.
 */
#ifndef CULPRIT_QUERY_PARTIAL_H
#define CULPRIT_QUERY_PARTIAL_H

#include "base/buf.h"
#include "base/names.h"
#include "base/sum.h"
#include "base/vec.h"
#include "model/loss.h"
#include "query/groups.h"
#include "query/plan.h"
#include "query/spread.h"

struct answer;

#define PARTIAL_GROUPS 10000            /* of one partial, unless told otherwise */
#define PARTIAL_BYTES ((size_t)4 << 20) /* of a packed one that travels */
#define GROUP_NONE SIZE_MAX

/* What an aggregate of a group has seen. */
struct partial_cell {
	uint64_t nr;              /* values that are not null */
	struct value least, most; /* MIN, MAX */
	struct sum sum;           /* SUM, AVERAGE, HISTOGRAM */
	struct spread *spread;    /* PERCENTILE, HISTOGRAM; NULL: nothing */
};

struct partial_shape {
	uint32_t nr_keys;
	uint32_t nr_cells;
	uint8_t functions[VARIABLES_MAX]; /* enum aggregate, by cell */
};

struct partial {
	struct partial_shape shape;
	struct names names;             /* of its texts */
	struct groups groups;           /* keys only */
	VEC(uint64_t) times;            /* rows, by group */
	VEC(struct partial_cell) cells; /* by group, then by aggregate */
	size_t max_groups;
	struct losses losses; /* what is missing from it */
};

/* Keys are the groups of the plan's output, or the columns where it does not aggregate; cells are
 * the aggregates of the output, by number. */
void partial_shape_of(struct partial_shape *s, const struct plan *p);
void partial_init(struct partial *p, const struct partial_shape *s);
void partial_done(struct partial *p);
/* Forgets groups and losses; the shape stays. */
void partial_reset(struct partial *p);
bool partial_is_empty(const struct partial *p);

/* The group of these keys, whose texts are in p->names, with so many more rows in it. GROUP_NONE
 * where there are too many groups: the rows are counted as lost (LOSS_ROWS_DROPPED). */
size_t partial_group(struct partial *p, const struct value *keys, uint64_t rows);
/* A value that an aggregate saw so many times (COUNT of rows: value_int(1)); what is no number and
 * has to be one is counted (LOSS_VALUES_NO_NUMBER). */
void partial_add(struct partial *p, size_t group, size_t cell, struct value v, uint64_t times);
/* What was counted elsewhere, with texts in p->names: nr values, their sum, least and most, as far
 * as the function asks for them. Not of PERCENTILE and HISTOGRAM. */
void partial_add_total(struct partial *p, size_t group, size_t cell, const struct total *half);
/* Rows and losses of another one are added. -EINVAL: they are of different queries. */
int partial_merge(struct partial *to, const struct partial *from, struct error *err);
/* The same of some of its groups, without losses. */
void partial_merge_some(struct partial *to, const struct partial *from, size_t first, size_t nr);
/* The same with null in place of every key that is not among these, as bits: groups that differ in
 * the others only become one. */
int partial_merge_by(struct partial *to, const struct partial *from, uint64_t keep,
		     struct error *err);

/* The rows of what Select says, in the order of their keys; a row of a query that does not
 * aggregate as often as it was emitted. 0, or what the answer said, or a type error. */
int partial_answer(struct partial *p, const struct plan *plan, const struct answer *a,
		   struct error *err);

/* partial_pack.c: as bytes; equal partials give equal bytes. */
void partial_pack(struct buf *b, struct partial *p);
/* In as many pieces as it takes, each within so many bytes: put together they are the whole, losses
 * are in the first. A group that is larger than that is left out, and its rows counted as lost. */
void partial_pack_pieces(struct partial *p, size_t max_bytes,
			 void (*each)(void *ctx, struct str bytes), void *ctx);
/* Into one that needs no partial_init. -EBADMSG with a word otherwise; p is then empty and valid.
 */
int partial_unpack(struct partial *p, struct str bytes, struct error *err);

#endif
