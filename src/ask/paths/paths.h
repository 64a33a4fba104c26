/* The question "paths": which nodes requests call, in which order, how often, and where the time
 * goes. */
#ifndef CULPRIT_ASK_PATHS_PATHS_H
#define CULPRIT_ASK_PATHS_PATHS_H

#include "ask/question.h"

extern const struct question ask_paths;

#endif
