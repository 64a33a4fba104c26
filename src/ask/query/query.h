/* The question of any query: happened-before joins over the events of a run. */
#ifndef CULPRIT_ASK_QUERY_QUERY_H
#define CULPRIT_ASK_QUERY_QUERY_H

#include "ask/question.h"

extern const struct question ask_query;

#endif
