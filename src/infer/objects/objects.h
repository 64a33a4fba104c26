/* What lines name together, in; the objects behind it, how their types relate and each one's life,
 * out (docs/objects.md tells how). */
#ifndef CULPRIT_INFER_OBJECTS_OBJECTS_H
#define CULPRIT_INFER_OBJECTS_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct error;
struct losses;
struct mention;
struct object_sink;
struct objects;

struct objects_options {
	size_t memory_bytes; /* that the process may need, about; beyond it, what was told lies in a
				file. 0: 512 MiB */
	size_t file_bytes;   /* beyond this the oldest are left out and counted; 0: 32 times that */
	bool is_kept;        /* it will be settled again and again: relations are kept meanwhile */
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
/* Finds the objects of all that was added so far. They are to be told before more is added. */
void objects_settle(struct objects *o, struct losses *losses);
/* Hands them to the sink, a few thousand at a time, and gives their memory back; more may be added
 * and settled again. 0, or negative with *err: what the sink said. */
int objects_tell(struct objects *o, const struct object_sink *sink, struct error *err);
/* Of all settlings: relations that went on from what was kept, and those that were made anew. */
void objects_relations(const struct objects *o, uint64_t *gone_on, uint64_t *anew);

#endif
