/* Says in words what is slow and why: the table by type, and the findings below it. */
#ifndef CULPRIT_ASK_ANSWER_ANSWER_H
#define CULPRIT_ASK_ANSWER_ANSWER_H

#include "ask/question.h"

extern const struct question ask_answer;

#endif
