/* Which operation of its request each event is part of, packed into an attribute of the first span.
 */
#ifndef CULPRIT_MODEL_OPERATIONS_H
#define CULPRIT_MODEL_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define OPERATIONS_KEY "operations"

/* Adds the attribute: one number for each event of the body, in its order. */
void operations_add(struct buf *attrs, const uint32_t *numbers, size_t nr);
/* Finds it among packed attributes; false when there is none. */
bool operations_find(struct str attrs, struct str *packed);
/* The number of the next event; false at the end. */
bool operations_next(struct str *packed, uint32_t *number);

#endif
