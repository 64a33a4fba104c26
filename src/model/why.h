/* Why a span of a request that was rebuilt belongs to it, packed into an attribute of the span. */
#ifndef CULPRIT_MODEL_WHY_H
#define CULPRIT_MODEL_WHY_H

#include <stdbool.h>
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
	WHY_HOW_NR,
};

struct why {
	enum why_how how;
	uint32_t after;   /* position of the span that it follows; 0: none */
	unsigned percent; /* of such work that is followed so, at least */
	struct str thing; /* what both name; may be empty */
};

/* Adds the attribute. */
void why_add(struct buf *attrs, const struct why *why);
/* Finds it among packed attributes; false when there is none, or it is damaged. */
bool why_find(struct str attrs, struct why *why);
/* One word for scripts: "follows". */
const char *why_how_name(enum why_how how);

#endif
