/* Annotations of classes and methods that are there while the program runs
 * (RuntimeVisibleAnnotations). */
#ifndef CULPRIT_PROGRAM_ANNOTATION_H
#define CULPRIT_PROGRAM_ANNOTATION_H

#include <stdbool.h>

#include "base/str.h"

struct class;

/* Whether a descriptor, La/b/Timed;, is of this name, with dots, with or without its package. */
bool annotation_is(struct str descriptor, struct str name);
/* Whether one of that name is among them; list: the body of the attribute. False as well from where
 * on it is damaged. */
bool annotation_among(const struct class *c, struct str list, struct str name);

#endif
