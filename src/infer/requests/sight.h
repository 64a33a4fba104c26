/* What the rebuilding of requests wants to know of a line, packed into its event while lines are
 * parsed side by side. */
#ifndef CULPRIT_INFER_REQUESTS_SIGHT_H
#define CULPRIT_INFER_REQUESTS_SIGHT_H

#include <stdbool.h>

#include "base/str.h"
#include "infer/requests/tokens.h"

struct arena;
struct event;
struct matcher;

/* For struct statements of source/source.h; ctx is a struct matcher, or NULL when no program is
 * known. Sets statement and values. */
void sight_event(const void *ctx, struct event *ev, struct str message, struct arena *arena);

/* A walk over what was packed: the shape of the text, then its names, then those of the thread. */
struct sight {
	struct str shape;
	uint64_t nr_own, nr_thread;
	struct str rest;
	bool is_cut; /* there were more names than are kept */
};
bool sight_open(struct sight *s, struct str values);
/* A name: its kind, a unit separator, its value. */
bool sight_next(struct sight *s, struct str *name);

#define SIGHT_SEPARATOR TOKENS_SEPARATOR

#endif
