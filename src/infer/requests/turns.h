/* Requests that take turns at one object: the time line of each object is cut into them, as the
 * lines of a thread are cut into units. */
#ifndef CULPRIT_INFER_REQUESTS_TURNS_H
#define CULPRIT_INFER_REQUESTS_TURNS_H

#include "infer/requests/subject.h"

/* Cuts units where turns change, and sets the turn of each. */
void turns_find(struct work *w, const struct subjects *s);
/* When families are known: a turn with lines of one family is of that. */
void turns_join(struct work *w);

#endif
