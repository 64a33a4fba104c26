/* Which places of a method are reached only when an exception was caught. */
#ifndef CULPRIT_PROGRAM_HANDLED_H
#define CULPRIT_PROGRAM_HANDLED_H

#include "program/dominance.h"

/* By block: whether every way to it leads through a handler. Lies in the arena. */
bool *handled_blocks(const struct flow *f, struct arena *a);

#endif
