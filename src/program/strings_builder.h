/* The patterns by which a class joins texts and values with a StringBuilder, as javac and scalac
 * write a + b. */
#ifndef CULPRIT_PROGRAM_STRINGS_BUILDER_H
#define CULPRIT_PROGRAM_STRINGS_BUILDER_H

#include <stdbool.h>

struct class;
struct losses;
struct strings_sink;

/* used[] has a place for each constant of the class: true for those that are part of a pattern. */
void strings_of_builders(const struct class *c, bool *used, const struct strings_sink *to,
			 struct losses *losses);

#endif
