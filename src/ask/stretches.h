/* Stretches of time in which values, as logarithms against what is usual, lie above the rest. */
#ifndef CULPRIT_ASK_STRETCHES_H
#define CULPRIT_ASK_STRETCHES_H

#include <stddef.h>
#include <stdint.h>

struct types;

#define STRETCH_LEVELS 3 /* the mean, and higher ones */

struct stretch {
	int64_t begin, end; /* end before begin: none */
};

/* A value and when. */
struct moment {
	int64_t at;
	double off;
};

/* One giant does not decide. */
double stretches_capped(double off);
/* One for each level, of moments in order of time. What lies above the mean, then above more than
 * that: a fault that adds to a slow start, or is followed by another, is told apart from it by a
 * higher level. */
void stretches_find(const struct moment *v, size_t nr, struct stretch *out);
/* Likewise, when requests of any type are slow. */
void stretches_of_requests(const struct types *types, struct stretch *out);

#endif
