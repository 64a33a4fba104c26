/* What the fields of an object hold just after it was made: what its constructor was given. */
#ifndef CULPRIT_PROGRAM_MADE_H
#define CULPRIT_PROGRAM_MADE_H

#include "program/scope.h"

/* The one value that is no null where several may come; w itself otherwise. */
struct where made_only(struct where w);
/* The field, named as in paths ("Class.field"), of an object made in its scope; false if unknown.
 */
bool made_field(struct where object, struct str field, struct arena *a, struct where *value);

#endif
