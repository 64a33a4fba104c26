/* Units whose lines are about things of different owners, cut between them. */
#ifndef CULPRIT_INFER_REQUESTS_APART_H
#define CULPRIT_INFER_REQUESTS_APART_H

#include "infer/requests/hold.h"

void apart_cut(struct work *w, const struct owners *o);

#endif
