/* The other parents that calls could have, as far as they are likely enough to be told. */
#ifndef CULPRIT_INFER_PATHS_ALTERNATIVES_H
#define CULPRIT_INFER_PATHS_ALTERNATIVES_H

#include <stddef.h>
#include <stdint.h>

struct window;

enum { ALTERNATIVES_MAX = 3 }; /* of one call */

/* Puts them in the order of calls, the likeliest first, and keeps those that are told. */
void alternatives_settle(struct window *w);
/* Where those of a call begin, after settling, and how many there are. */
size_t alternatives_of(const struct window *w, uint32_t call, size_t *nr);

#endif
