/* Says in words what a kind of silence of objects waits for. */
#ifndef CULPRIT_ASK_OBJECT_TELL_H
#define CULPRIT_ASK_OBJECT_TELL_H

#include "ask/object_causes.h"

struct section;
struct prose;

/* A paragraph with the numbers behind it; the example is a silence of that kind. Returned to set
 * its command. */
struct prose *object_tell_cause(struct section *s, const struct object_ends *ends,
				const struct object_waits *w, uint32_t kind,
				const struct object_cause *c, const struct object_wait *example);

#endif
