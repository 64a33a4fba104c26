/* The question "objects": what the logs name, how it hangs together, how long it lives, and what it
 * waits for. */
#ifndef CULPRIT_ASK_OBJECTS_OBJECTS_H
#define CULPRIT_ASK_OBJECTS_OBJECTS_H

#include "ask/question.h"

extern const struct question ask_objects;

#endif
