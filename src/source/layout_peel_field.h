/* The kinds of fields that lines are peeled for: how each is recognised and written in a pattern.
 */
#ifndef CULPRIT_SOURCE_LAYOUT_PEEL_FIELD_H
#define CULPRIT_SOURCE_LAYOUT_PEEL_FIELD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct peel;

enum peel_has {
	HAS_LEVEL = 1,
	HAS_THREAD = 2,
	HAS_LOGGER = 4,
	HAS_PID = 8,
	HAS_NODE = 16,
	HAS_IDS = 32,
	HAS_PAST = 64,
	HAS_FILE = 128,
	HAS_PRIORITY = 256
};

/* Whether a line goes on with such a field; then it is moved past it. */
struct peel_field {
	const char *pattern;
	bool (*take)(struct peel *p, struct str *s);
	unsigned percent; /* of the lines that must have it */
	unsigned gives, not_after;
};

/* In order of preference; each ends with an empty one. */
extern const struct peel_field peel_fields_behind[], peel_fields_in_front[];

/* Whether it is a name with a dot inside, as those of classes are. */
bool peel_is_dotted(struct str s);

#endif
