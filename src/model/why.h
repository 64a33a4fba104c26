/* Why each span of a request that was rebuilt belongs to it, packed into an attribute of the first
 * span. What a span follows its edges tell, and how surely its confidence. */
#ifndef CULPRIT_MODEL_WHY_H
#define CULPRIT_MODEL_WHY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define WHY_KEY "why"

enum why_how {
	WHY_FIRST,   /* nothing before it: the request begins there, or a branch of it */
	WHY_FOLLOWS, /* such work nearly always follows such work, and both name the same */
	WHY_AGREED,  /* both ends agreed on a number */
	WHY_AGAIN,   /* the same work, once more, by the same one or before it was over */
	WHY_FAMILY,  /* it names, or stands in a log of, what the request is called after */
	WHY_LOOP,    /* a further round of one loop */
	WHY_HANDED,  /* handed on first in, first out, within one node */
	WHY_WITHIN,  /* done while it waits, by another thread of the node */
	WHY_TURN,    /* nothing else was done to the thing at the time */
	WHY_HOW_NR,
};

struct why {
	enum why_how how;
	struct str thing; /* what both name; may be empty */
};

/* Adds the attribute: one for each span but the first, in their order. */
void why_add(struct buf *attrs, const struct why *v, size_t nr);

/* A walk over the packed ones. */
struct whys {
	struct str things, rest;
	uint64_t nr_things;
};
/* Finds them among packed attributes; false when there are none. */
bool why_find(struct str attrs, struct whys *w);
/* That of the next span; false at the end, or where the bytes are damaged. */
bool why_next(struct whys *w, struct why *why);

/* One word for scripts: "follows". */
const char *why_how_name(enum why_how how);

#endif
