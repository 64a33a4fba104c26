/* What a statement says is done, and to what: the verb in its text. */
#ifndef CULPRIT_INFER_OBJECTS_DEED_H
#define CULPRIT_INFER_OBJECTS_DEED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "model/object.h"

enum relation_deed deed_of(struct str title);

/* What it is done to: of "Session <*> closed for user <*>", the first value, a session. */
struct deed {
	enum relation_deed deed;
	bool is_failure; /* it may well be tried again */
	size_t mask;     /* the number of the value, from 0; SIZE_MAX: none */
	size_t nr_masks;
	struct str key; /* the word in front of the value; may be empty */
};

struct deed deed_read(struct str title);

#endif
