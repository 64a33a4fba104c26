/* Slow against normal, type by type, with every share. */
#ifndef CULPRIT_ASK_SLOW_SLOW_H
#define CULPRIT_ASK_SLOW_SLOW_H

#include "ask/question.h"

extern const struct question ask_slow;

#endif
