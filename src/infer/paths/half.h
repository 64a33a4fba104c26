/* Calls of which only one end was seen: gives them the other end, as a guess, so that what they
 * caused can be told from what others caused. */
#ifndef CULPRIT_INFER_PATHS_HALF_H
#define CULPRIT_INFER_PATHS_HALF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct losses;
struct pairs;
struct window;

struct half {
	struct window *w;
	struct pairs *pairs;
	struct losses *losses;
	size_t nr_carried;     /* calls that an earlier window left open are given up */
	bool is_last;          /* all are given up */
	int64_t first, now;    /* when the trace began, and how far it was read */
	VEC(uint32_t) running; /* calls that may still be answered: closed for the time being */
};

/* Closes every open call, and makes calls of the returns that pairs knows no call for. */
void half_fill(struct half *h);
/* Opens those again that may still be answered. */
void half_restore(struct half *h);

#endif
