/* Types that are slower for a while, or of which there are many more or fewer for a while. */
#ifndef CULPRIT_ASK_SHIFTS_H
#define CULPRIT_ASK_SHIFTS_H

#include "ask/repeats.h"

/* Texts are borrowed from types. */
void shifts_find(const struct types *types, struct anomaly_list *out);

#endif
