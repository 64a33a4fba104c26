/* Calls that are equal and below equal ones, put together: the tree of an interval while it is
 * added up. */
#ifndef CULPRIT_INFER_INTERVALS_CALL_TREE_H
#define CULPRIT_INFER_INTERVALS_CALL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct log_item;

#define TREE_NODES_MAX 32768
#define TREE_NONE UINT32_MAX

struct tree_node {
	uint32_t parent; /* position, smaller than its own; TREE_NONE for tops */
	uint32_t function, site;
	uint32_t nr; /* of calls */
	uint32_t nr_amounts;
	double amount;
	int64_t start, end, ns;
	int64_t below_ns; /* of it, what is in nodes below */
};

struct tree_frame {
	size_t low; /* the first item that is below */
	uint32_t node;
	int64_t left_ns; /* of the call, what no item below took */
};

/* Zero is empty. */
struct call_tree {
	VEC(struct tree_node) nodes;
	uint32_t *table; /* 1 + position, by parent, function and site */
	size_t nr_slots;
	VEC(struct tree_frame) frames; /* while items are added */
	uint64_t nr_left;              /* items that were one too many: time of their parent */
	uint64_t nr_shared; /* items that were cut where several are one, by proportion */
};

/* A stretch of time that counts, in the order of time; before_ns: of those in front of it. */
struct tree_window {
	int64_t from, to, before_ns;
};

/* What of the items counts. */
struct tree_measure {
	const struct tree_window *windows; /* NULL: all of it */
	size_t nr_windows;
	/* What begins before the first window that it is in begins to belong to the interval, and
	 * ends after, is around it and is passed over; NULL: nothing is. */
	bool (*is_around)(void *to, const struct log_item *item);
	void *to;
};

void call_tree_done(struct call_tree *t);
void call_tree_clear(struct call_tree *t);
uint32_t call_tree_child(struct call_tree *t, uint32_t parent, uint32_t function, uint32_t site);
/* Adds items and what is below them, below parent; at most left_ns of time in all. Returns the time
 * that was added. */
int64_t call_tree_add(struct call_tree *t, uint32_t parent, int64_t left_ns,
		      const struct log_item *items, size_t nr, const struct tree_measure *m);

#endif
