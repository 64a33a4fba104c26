/* Puts the spans of one trace into a tree: duplicates out, parents found, circles cut, parents
 * first. */
#ifndef CULPRIT_INFER_NAMED_TREE_H
#define CULPRIT_INFER_NAMED_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct losses;
struct span;

struct tree {
	struct span *spans; /* those given; parents before children, siblings by start */
	size_t nr;
	uint32_t *slots; /* by hash of id: position + 1 */
	uint32_t nr_slots;
	bool is_incomplete; /* a parent is not in the input */
};

/* Takes the spans over: they are put in order where they are. */
void tree_build(struct tree *t, struct span *spans, size_t nr, struct arena *arena,
		struct losses *losses);
/* The span with this id, or SPAN_NONE. */
uint32_t tree_find(const struct tree *t, struct str id);

#endif
