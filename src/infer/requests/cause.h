/* What a unit of work is due to, among those before it. */
#ifndef CULPRIT_INFER_REQUESTS_CAUSE_H
#define CULPRIT_INFER_REQUESTS_CAUSE_H

#include "infer/requests/sitting.h"

#define LATE_NS INT64_C(300000000) /* what comes later must show that it does */

/* Finds what nearly always follows: pairs of types, in order. */
void causes_begin(struct sitting *s);
/* The unit that it follows, and how surely; NULL: none. */
const struct candidate *cause_find(struct sitting *s, uint32_t unit, double *sure);
/* The same work again that is part of the same request. */
const struct candidate *cause_again(struct sitting *s, uint32_t unit);
/* What is too seldom to show a habit, but comes at once and by the same one. */
const struct candidate *cause_at_once(const struct sitting *s, uint32_t unit);
/* For a thread that is called after a thing: what has just been done to that in the same log. */
const struct candidate *cause_beside(const struct sitting *s, uint32_t unit);

#endif
