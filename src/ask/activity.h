/* When each node of a run gave a sign of life, and when it warned: silences are found in it. */
#ifndef CULPRIT_ASK_ACTIVITY_H
#define CULPRIT_ASK_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "ask/peers.h"
#include "base/names.h"
#include "base/time.h"
#include "base/vec.h"

struct error;
struct request_body;
struct store;

#define ACTIVITY_NODES 256 /* further nodes are not watched */
#define LIFE_TAIL 4        /* lines that are a node's last words */

/* A line that warns, or worse. */
struct warning {
	int64_t ns;
	uint64_t event;
};

#define LIFE_THREADS 64
#define ACTIVITY_WAKE_NS (300 * NS_MS) /* who was silent for so long is heard of again */
#define ACTIVITY_JUST_AFTER_NS (200 * NS_MS)

/* A line with which a node is heard of again, by a thread that was not at work before. */
struct wake {
	int64_t begin, end; /* of the silence */
	uint64_t event;
};

struct life {
	uint64_t *ticks; /* bits: whether anything was seen */
	size_t first, last;
	uint64_t nr_seen;
	VEC(struct warning) warnings; /* in order of time; the first many */
	uint64_t nr_warnings;
	uint64_t tail[LIFE_TAIL]; /* its latest events, in turns */
	unsigned nr_tail;         /* ever put there */
	int64_t tail_ns;
	VEC(struct wake) wakes; /* in order of time; the first many */
	int64_t silent_from, silent_until;
	struct {
		uint64_t hash;
		int64_t ns;
	} threads[LIFE_THREADS]; /* when they were heard last; one of those that share a place */
};

/* Zero is empty. */
struct activity {
	struct names nodes;
	VEC(struct life) v; /* by node - 1 */
	int64_t from, tick; /* ns */
	size_t nr_ticks;
	uint64_t nr_unwatched; /* events of nodes beyond the first many */
	bool is_of_lines;      /* and so of the whole run, whatever is selected */
	struct peers spent;    /* what lines themselves say that something took, by node */
	struct peer_faults spent_faults; /* who takes longer by that */
};

/* One pass over all events; where there are none, over the spans of all requests. */
int activity_collect(struct activity *a, struct store *s, struct error *err);
void activity_done(struct activity *a);
/* The same; what lines tell is read once for all who ask. *own is to be given to activity_free,
 * which takes NULL. */
int activity_take(const struct activity **a, struct activity **own, struct store *s,
		  struct error *err);
void activity_free(struct activity *a);

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
/* The next gap of at least so many ticks that begins in [from, before), inside the node's life;
 * false when there is none. */
bool activity_gap(const struct life *l, size_t from, size_t before, size_t least, struct gap *g);

#endif
