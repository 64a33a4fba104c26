/* Compares two runs: what changed, and how much of the difference each hop explains. */
#ifndef CULPRIT_ASK_DIFF_DIFF_H
#define CULPRIT_ASK_DIFF_DIFF_H

#include "ask/question.h"

extern const struct question ask_diff;

#endif
