/* The question where the latency of a type of request varies. */
#ifndef CULPRIT_ASK_VARIANCE_VARIANCE_H
#define CULPRIT_ASK_VARIANCE_VARIANCE_H

#include "ask/question.h"

extern const struct question ask_variance;

#endif
