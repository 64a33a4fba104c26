/* Cuts text into words as the Java launcher does, with quotes. */
#ifndef CULPRIT_CAPTURE_JVM_WORDS_H
#define CULPRIT_CAPTURE_JVM_WORDS_H

#include <stdbool.h>

#include "base/str.h"

struct arena;

/* The next word of a file of arguments: comments behind #, and \ is special within quotes. */
bool words_take_file(struct str *text, struct arena *arena, struct str *word);
/* The next word of a variable such as JAVA_TOOL_OPTIONS: quotes only. */
bool words_take_variable(struct str *text, struct arena *arena, struct str *word);

#endif
