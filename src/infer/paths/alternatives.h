/* The other parents that calls could have, as far as they are likely enough to be told. */
#ifndef CULPRIT_INFER_PATHS_ALTERNATIVES_H
#define CULPRIT_INFER_PATHS_ALTERNATIVES_H

#include <stddef.h>
#include <stdint.h>

struct alternative;
struct pcall;
struct piece;
struct window;

enum { ALTERNATIVES_MAX = 3 }; /* of one call */

/* Those of a piece, until they go to the window. */
struct noted {
	struct alternative *v;
	size_t nr, room;
};

/* Notes the likeliest candidates of the call but for the best, when that is not sure enough. */
void alternatives_note(struct noted *n, const struct window *w, const struct piece *p,
		       const struct pcall *c, uint32_t best, float confidence);
/* Adds what was noted to the window; not by two at a time. */
void alternatives_take(struct window *w, struct noted *n);
/* What the node calls is looked at again. */
void alternatives_forget(struct window *w, uint32_t node);

/* Puts them in the order of calls, the likeliest first, and keeps those that are told. */
void alternatives_settle(struct window *w);
/* Where those of a call begin, after settling, and how many there are. */
size_t alternatives_of(const struct window *w, uint32_t call, size_t *nr);

#endif
