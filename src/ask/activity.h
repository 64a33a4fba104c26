/* When each node of a run gave a sign of life, and when it warned: silences are found in it. */
#ifndef CULPRIT_ASK_ACTIVITY_H
#define CULPRIT_ASK_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "ask/peers.h"
#include "base/names.h"
#include "base/vec.h"

struct error;
struct request_body;
struct store;

#define ACTIVITY_NODES 256 /* further nodes are not watched */

/* A line that warns, or worse. */
struct warning {
	int64_t ns;
	uint64_t event;
};

struct life {
	uint64_t *ticks; /* bits: whether anything was seen */
	size_t first, last;
	uint64_t nr_seen;
	VEC(struct warning) warnings; /* in order of time; the first many */
	uint64_t nr_warnings;
};

/* Zero is empty. */
struct activity {
	struct names nodes;
	VEC(struct life) v; /* by node - 1 */
	int64_t from, tick; /* ns */
	size_t nr_ticks;
	uint64_t nr_unwatched; /* events of nodes beyond the first many */
	struct peers spent;    /* what lines themselves say that something took, by node */
};

/* One pass over all events; where there are none, over the spans of all requests. */
int activity_collect(struct activity *a, struct store *s, struct error *err);
void activity_done(struct activity *a);

/* Ticks with a sign of life in [from, until). */
size_t activity_count(const struct activity *a, const struct life *l, size_t from, size_t until);
static inline int64_t activity_ns(const struct activity *a, size_t tick)
{
	return a->from + (int64_t)tick * a->tick;
}
size_t activity_tick(const struct activity *a, int64_t ns);

/* A stretch without any sign of life: ticks [first, until). */
struct gap {
	size_t first, until;
};
/* The next gap of at least so many ticks at or after from, inside the node's life; false at its
 * end. */
bool activity_gap(const struct life *l, size_t from, size_t least, struct gap *g);

#endif
