/* What lines name together, in; the objects behind it, how their types relate and each one's life,
 * out (docs/objects.md tells how). */
#ifndef CULPRIT_INFER_OBJECTS_OBJECTS_H
#define CULPRIT_INFER_OBJECTS_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct error;
struct losses;
struct mention;
struct object_graph;
struct objects;

struct objects_options {
	size_t memory_bytes; /* that the process may need, about; beyond it, what was told lies in a
				file. 0: 512 MiB */
	size_t file_bytes;   /* beyond this the oldest are left out and counted; 0: 32 times that */
	const char *dir;     /* of the file; NULL: the temporary directory */
};

/* NULL stands for the usual options. */
struct objects *objects_new(const struct objects_options *options);
void objects_free(struct objects *o);
/* In a child of the process that made them: as shelf_branch. */
int objects_branch(struct objects *o, struct error *err);
/* Whether a statement says that something begins or ends, and whether lines name numbers that are
 * given out again: such lines are to be added one by one, others may be counted first. */
bool objects_tells_turn(struct str title);
bool objects_may_turn(const struct mention *m);
/* Takes a copy of what the mention borrows. Not for several threads at once. */
void objects_add(struct objects *o, const struct mention *m);
/* The graph of all that was added so far, borrowed from o until the next call; more may be added
 * and settled again. 0, or negative with *err. */
int objects_settle(struct objects *o, struct object_graph *g, struct losses *losses,
		   struct error *err);

#endif
