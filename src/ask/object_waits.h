/* Silences in the lives of objects: times in which neither the object nor anything below it is
 * heard of, told apart by what stands before and after. */
#ifndef CULPRIT_ASK_OBJECT_WAITS_H
#define CULPRIT_ASK_OBJECT_WAITS_H

#include <stdint.h>

#include "ask/object_kin.h"
#include "base/map.h"
#include "base/vec.h"

/* What stands at an end of a silence: a line of a template, or a child of a type. */
#define WAIT_CHILD ((uint32_t)1 << 31)
/* Or, of gaps, where the object itself begins and ends. */
#define WAIT_BEGIN UINT32_MAX
#define WAIT_END (UINT32_MAX - 1)

struct object_wait {
	int64_t from, to;
	uint32_t object;
	uint32_t kind;
};

/* Silences of objects of one type between the same two things. */
struct wait_kind {
	uint32_t type;
	uint32_t before, after; /* a template, or WAIT_CHILD | type */
	uint32_t first, nr;     /* in waits[], once they are in order */
	int64_t median_ns, total_ns;
};

/* Zero is a valid, empty set. */
struct object_waits {
	VEC(struct object_wait) waits; /* by kind, then by from */
	VEC(struct wait_kind) kinds;
	struct map by_ends;   /* type, before, after -> 1 + the kind */
	uint64_t nr_left_out; /* beyond the bound */
	bool is_gaps;         /* found by object_gaps_find */
};

/* Of every object of the graph, which has events. Time and memory go with its events. */
void object_waits_find(struct object_waits *w, const struct object_kin *k);
/* The same for gaps: times in which no child lives, whatever the object itself logs. Of objects
 * that have children. */
void object_gaps_find(struct object_waits *w, const struct object_kin *k);
void object_waits_done(struct object_waits *w);

/* What silences of a kind read as. */
enum wait_sense {
	WAIT_IDLE,    /* nothing was to be done: the thing is over soon after, or used once more */
	WAIT_UNKNOWN, /* the logs do not tell */
	WAIT_FOR,     /* work was held up: something below it is begun behind them */
};
enum wait_sense object_wait_sense(const struct object_waits *w, const struct object_kin *k,
				  uint32_t kind);

/* An interval of an object's life that is filled. */
struct filled {
	int64_t from, to;
	uint32_t what; /* a template, or WAIT_CHILD | type */
};
typedef VEC(struct filled) filled_vec;
/* Its own lines and its children, within its life, by from; replaces what is in *v. */
void object_filled(const struct object_kin *k, uint32_t object, filled_vec *v);

/* "\"assigned <*>\"", "a child, container", "it began" */
void wait_end_text(const struct object_graph *g, uint32_t end, struct buf *b);

#endif
