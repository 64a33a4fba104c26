/* The constant strings of class files: what ldc loads, and the recipes by which Java joins them. */
#ifndef CULPRIT_PROGRAM_STRINGS_CLASS_H
#define CULPRIT_PROGRAM_STRINGS_CLASS_H

#include "base/str.h"

struct error;
struct losses;
struct strings_sink;

void strings_of_class(struct str bytes, const struct strings_sink *to, struct losses *losses);
/* Every class file in a jar, a war, jars within them, or a folder. 0, or negative failure. */
int strings_of_container(const char *path, const struct strings_sink *to, struct losses *losses,
			 struct error *err);

#endif
