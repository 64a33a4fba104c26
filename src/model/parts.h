/* Where the time of an interval went along its critical path, as it was measured: packed into an
 * attribute of its root span, because spans of several threads do not tell the path again. */
#ifndef CULPRIT_MODEL_PARTS_H
#define CULPRIT_MODEL_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "model/call.h"

/* Attributes of the root span. */
#define PARTS_KEY STR("culprit.parts")
#define PARTS_ROUND STR("culprit.round") /* which functions were watched: those of this round */
#define PARTS_EXTRA STR("culprit.extra") /* kept for being slow: no part of an even sample */
/* The fact of a run that tells of which round its answer is. */
#define PARTS_FACT "variance_round"

#define PART_WORKS 8 /* amounts of one part that are kept */

/* How much of something a part had to do: rows, bytes, an argument. */
struct part_work {
	struct str name;
	double amount;
};

struct part_of {
	uint32_t parent; /* position; UINT32_MAX for the root; always before */
	struct str name;
	int64_t ns; /* what is below included */
	int64_t wait_ns[NR_WAITS];
	uint32_t nr_calls, site;
	uint32_t nr_works;
	struct part_work works[PART_WORKS];
};

void parts_add(struct buf *packed, const struct part_of *p);
/* Takes the next one from the front; false at the end, or where the bytes are damaged. */
bool parts_take(struct str *packed, struct part_of *p);

#endif
