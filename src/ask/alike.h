/* Whether two nodes are replicas of each other, as far as their names tell. */
#ifndef CULPRIT_ASK_ALIKE_H
#define CULPRIT_ASK_ALIKE_H

#include <stdbool.h>

#include "base/str.h"

/* "dn1" and "dn12", "cart@a" and "cart@b" are; numbers do not count, nor what follows an "@". */
bool alike_names(struct str a, struct str b);

#endif
