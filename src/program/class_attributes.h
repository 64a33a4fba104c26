/* The attributes of a class file: code, lines, bootstrap methods and what else is told beside a
 * member. */
#ifndef CULPRIT_PROGRAM_CLASS_ATTRIBUTES_H
#define CULPRIT_PROGRAM_CLASS_ATTRIBUTES_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

struct class;
struct member;

/* Both take the table of attributes from the front of *s; false when its frame is broken. */
bool class_member_attributes(struct class *c, struct str *s, struct member *m, struct arena *a);
bool class_own_attributes(struct class *c, struct str *s, struct arena *a);

#endif
