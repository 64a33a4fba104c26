/* References of a span beyond its parent: to spans of the same or of another trace. */
#ifndef CULPRIT_MODEL_LINK_H
#define CULPRIT_MODEL_LINK_H

#include <stdbool.h>

#include "base/buf.h"

enum link_kind { LINK_CHILD_OF, LINK_FOLLOWS_FROM, LINK_OTHER };

struct link {
	enum link_kind kind;
	struct str trace, span;
	struct str attrs; /* packed, model/attr.h */
};

void link_add(struct buf *packed, const struct link *l);
bool link_take(struct str *packed, struct link *l);

#endif
