/* Units that name many things of one kind: they are about several requests and belong to none. */
#ifndef CULPRIT_INFER_REQUESTS_LIST_H
#define CULPRIT_INFER_REQUESTS_LIST_H

#include "infer/requests/work.h"

/* Whether several of the kind in one unit make it a list of things: several numbers or addresses do
 * not. */
bool list_is_of(const struct work *w, uint32_t kind);
/* Marks the units that are lists as batches. */
void list_mark(struct work *w);

#endif
