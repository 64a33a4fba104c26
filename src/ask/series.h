/* Latency over time: equal steps of time with what happened in each, and when a slow time began. */
#ifndef CULPRIT_ASK_SERIES_H
#define CULPRIT_ASK_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* One request, as far as a series needs to know it. */
struct timing {
	int64_t start, duration;
	uint64_t id : 62; /* in one word with what follows: there are many of them */
	bool error : 1, incomplete : 1;
};

struct series_step {
	int64_t start, end;
	uint64_t count, errors;
	int64_t p50, p90, p99, max; /* 0 where nothing started */
};

struct series {
	struct series_step *v;
	size_t nr;
	int64_t width;
};

/* About so many steps of a round width over [from, until]; timings in order of their starts. */
void series_make(const struct timing *t, size_t nr, int64_t from, int64_t until, size_t about,
		 struct arena *arena, struct series *out);
/* A round width (1, 2 or 5 times a power of ten ns; from seconds on of a clock: 10 s, 30 s, 1 min
 * …) of which at most so many fill the time. */
int64_t series_width(int64_t whole_ns, size_t at_most);

/* A stretch of time in which requests were slower than in the rest. */
struct episode {
	bool found;
	size_t first, nr; /* of the timings */
	bool from_first,
		to_last;    /* it touches an end of what was seen: the change itself was not */
	int64_t begin, end; /* first and last start inside */
	int64_t mean_in, mean_out;
	double confidence; /* that no such stretch comes about by chance */
};

/* Finds the stretch that stands out most; found only when it is slower by a good part and chance is
 * an unlikely reason. Same timings, same answer. */
void series_episode(const struct timing *t, size_t nr, struct arena *arena, struct episode *e);

#endif
