/* What we say to who watches: lines appended to a file of theirs. */
#ifndef CULPRIT_AGENT_JVM_ANSWER_H
#define CULPRIT_AGENT_JVM_ANSWER_H

#include "base/str.h"

#define ANSWER_PATH 4096

/* Where lines go from now on; empty: nowhere. */
void answer_to(struct str path);
void answer_path(char path[ANSWER_PATH]);
/* Who made the file is gone, or may be: it is removed, and no lines go there any more. Files of
 * others are left alone. */
void answer_remove(const char *path);
/* A line, whole at once; fields are separated by tabs. */
void answer_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
