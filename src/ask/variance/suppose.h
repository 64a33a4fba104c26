/* What if a factor did not vary: the sample of intervals with other times. */
#ifndef CULPRIT_ASK_VARIANCE_SUPPOSE_H
#define CULPRIT_ASK_VARIANCE_SUPPOSE_H

#include "ask/variance/factors.h"

/* Of the first factors, as many as the options say: how the whole would vary if each were constant
 * at its median. */
void suppose_factors(const struct variance_tree *t, const struct variance_options *o,
		     struct arena *arena, struct variance_factor *v, size_t nr);

#endif
