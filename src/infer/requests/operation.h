/* Parts of a request: what is done to one object, while the caller waits or afterwards. The paper's
 * unit of a request. */
#ifndef CULPRIT_INFER_REQUESTS_OPERATION_H
#define CULPRIT_INFER_REQUESTS_OPERATION_H

#include "infer/requests/hold.h"

struct operations;

struct operations *operations_new(const struct work *w, const struct owners *o);
void operations_free(struct operations *p);
/* Which operation of its request a line of the unit is part of: equal numbers, equal operation. */
uint64_t operations_of(const struct operations *p, const struct unit *u, const struct seen_line *l);

#endif
