/* What a client does while it does something else: a file that it reads to write another one. */
#ifndef CULPRIT_INFER_REQUESTS_NEST_H
#define CULPRIT_INFER_REQUESTS_NEST_H

#include "infer/requests/work.h"

/* Makes sessions that lie within another one of the same client part of that. */
void nest_find(struct work *w);

#endif
