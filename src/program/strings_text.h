/* Makes of the raw bytes of a constant the strings that a sink takes: lines, with their holes. */
#ifndef CULPRIT_PROGRAM_STRINGS_TEXT_H
#define CULPRIT_PROGRAM_STRINGS_TEXT_H

#include <stdbool.h>

#include "base/str.h"

struct losses;
struct strings_sink;

/* A constant as the program has it; what it formats by percent signs or braces becomes a hole. */
void strings_give(const struct strings_sink *to, struct str raw, struct losses *losses);
/* The same where the holes are known and marked already: 1 to 5, as strings.h has them. */
void strings_give_marked(const struct strings_sink *to, struct str marked, struct losses *losses);

/* Whether all of it is text: printable characters of UTF-8, tabs and line ends. */
bool strings_is_text(struct str s);

#endif
