/* Threads that visit things in turn, whoever they belong to: scanners, checkers. */
#ifndef CULPRIT_INFER_REQUESTS_VISIT_H
#define CULPRIT_INFER_REQUESTS_VISIT_H

#include "infer/requests/tie.h"

/* Marks the units that visit a thing and do not follow from what was done to it. */
void visits_find(struct work *w, const struct ties *l);

#endif
