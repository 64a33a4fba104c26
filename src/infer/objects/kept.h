/* What lines told of each two kinds at the last settling, from which the next one goes on:
 * relations move one way, so that only lines that are new since have to be asked. */
#ifndef CULPRIT_INFER_OBJECTS_KEPT_H
#define CULPRIT_INFER_OBJECTS_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "infer/objects/relate.h"

struct census;
struct shelf;

enum { KEPT_STEPS = 3 }; /* kinds are related three times in a settling */

/* Who was named with whom, of two kinds: in the order of children, parents, templates. */
struct kept_pairs {
	VEC(struct pair) v;
};

struct kept_tie {
	uint64_t id_a, id_b;          /* of the kinds */
	struct kept_pairs of_b, of_a; /* b's and a's are the children */
	struct map lines;             /* by template; 0 where there are none any more */
	bool is_old;                  /* its things have the numbers of the last one */
};

/* A kind as it was, and its things in the order of their numbers. */
struct kept_kind {
	uint64_t id;
	uint32_t begin, end;
	bool is_kept, is_settled;
};

struct kept_thing {
	uint64_t id;
	uint64_t lines; /* a hash of which lines and logs name it */
	uint32_t number;
};

struct kept_step {
	VEC(struct kept_kind) kinds;
	struct map kind_at;            /* number + 1, by id */
	VEC(struct kept_thing) things; /* kind by kind */
	VEC(struct kept_tie *) ties;
	struct map tie_at; /* number + 1, by both ids */
};

struct kept {
	struct shelf *shelf;
	struct kept_step steps[KEPT_STEPS];
	size_t nr_notes, nr_logs; /* that were asked */
	int64_t first_ns;
	bool is_small;
	uint64_t nr_gone_on, nr_anew; /* relations that went on from what was kept, and others */
};

void kept_init(struct kept *k, struct shelf *shelf);
void kept_done(struct kept *k);
/* What is kept is of all lines so far. */
void kept_settled(struct kept *k, const struct census *w);
/* Nothing of it holds any more. */
void kept_forget(struct kept *k);

/* One step of a settling beside the same step of the last one. */
struct keeping {
	struct kept *kept;
	struct kept_step *before;
	struct kept_step now;
	bool *is_known; /* by kind: it was asked about at the last settling */
	bool *is_other; /* by thing: what old lines tell of it is asked once more */
	uint32_t *
		number; /* by number of a thing at the last settling: its number now, or NO_THING */
	bool is_any_other;
};

/* Nothing is kept where the census has nothing to keep it in. is_settled: this step asks nothing.
 */
void keeping_begin(struct keeping *k, const struct census *w, bool is_settled);
/* Whether something is kept of the two kinds. */
static inline bool keeping_has(const struct keeping *k, uint32_t a, uint32_t b)
{
	return k->is_known && k->is_known[a] && k->is_known[b];
}
/* Whether it is kept what old lines told of the two things, of such kinds. */
static inline bool keeping_holds(const struct keeping *k, uint32_t a, uint32_t b)
{
	return !k->is_other[a] && !k->is_other[b];
}
/* What is kept of the two, or what is to be kept from now on. is_fresh: begun anew. */
struct kept_tie *keeping_tie(struct keeping *k, const struct census *w, uint32_t a, uint32_t b,
			     bool is_fresh);
/* The two kinds that it is kept of. False: it does not hold. */
bool keeping_kinds(const struct keeping *k, const struct kept_tie *t, uint32_t *a, uint32_t *b);
void keeping_end(struct keeping *k);

/* Takes in what is new of the two kinds; of_b: children are b's. Sorts the pairs. */
void kept_tie_add(struct kept_tie *t, const struct keeping *k, struct pair *of_b, size_t nr);

#endif
