/* Finds the methods that so much work passes through that what they log tells nothing of it. */
#ifndef CULPRIT_PROGRAM_COMMON_H
#define CULPRIT_PROGRAM_COMMON_H

#include "program/identifiers.h"

/* Fills is_common of what has its top-level methods, and takes those out that are of no use then.
 */
void common_find(struct identifiers *i, const struct callgraph *g);

#endif
