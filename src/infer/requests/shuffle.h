/* The lines of chains as records that an engine can deal out: those of one chain go to one reducer
 * (reduce.h), and the chain is the key. */
#ifndef CULPRIT_INFER_REQUESTS_SHUFFLE_H
#define CULPRIT_INFER_REQUESTS_SHUFFLE_H

#include <stddef.h>

#include "base/str.h"

struct error;
struct harvest;

struct shuffle {
	struct harvest *h; /* of many lines, which have left memory */
	size_t nr_chains;
};

/* One record after the other, without ends of lines, in their order. */
int shuffle_write(const struct shuffle *sh,
		  int (*line)(void *to, struct str record, struct error *err), void *to,
		  struct error *err);

/* What a reducer is told of its chain, and of all. */
struct shuffle_chain {
	size_t nr, nr_chains;
};
/* Into an empty harvest; false when the bytes are none of shuffle_write. */
bool shuffle_take_chain(struct str body, struct shuffle_chain *c, struct harvest *h);
/* Lines of the log with that number: where it was before them in time, then the lines. */
bool shuffle_take_lines(struct str body, int64_t *reached, struct str *packed);

#endif
