/* The constant strings of Python: of compiled code (3.8 and later), and of sources. */
#ifndef CULPRIT_PROGRAM_STRINGS_PYTHON_H
#define CULPRIT_PROGRAM_STRINGS_PYTHON_H

#include <stdbool.h>

#include "base/str.h"

struct losses;
struct strings_sink;

/* Whether the first bytes are those of compiled code of a version that we know. */
bool strings_is_pyc(struct str s);
void strings_of_pyc(struct str s, const struct strings_sink *to, struct losses *losses);
void strings_of_python(struct str source, const struct strings_sink *to, struct losses *losses);

#endif
