/* The time line of each object: all lines about it, cut where a request begins. */
#ifndef CULPRIT_INFER_REQUESTS_TIMELINE_H
#define CULPRIT_INFER_REQUESTS_TIMELINE_H

#include "infer/requests/subject.h"

/* A line in the time line of its object. */
struct step {
	uint32_t line;  /* as gathered */
	uint32_t piece; /* of a unit: without a silence after which the same is done again */
	uint32_t subject;
	uint32_t family; /* 0: none, or several */
	uint32_t type;   /* pool and statement, as one number */
	uint32_t pool;
	int64_t gap; /* since the line before, ns */
	bool is_first;
	bool goes_on; /* certainly the same request as the line before */
	bool begins;
	uint32_t turn;
};

/* How often something followed upon other work at once, and after a long silence. */
struct habit {
	uint32_t soon, late;
};

static inline void habit_count(struct habit *h, bool is_late)
{
	h->late += is_late;
	h->soon += !is_late;
}

struct timeline {
	const struct work *w;
	const struct subjects *s;
	VEC(struct step) v; /* by object, then time */
	uint32_t nr_pieces;
	struct map types;         /* pool and statement: 1 + number */
	VEC(struct habit) habits; /* of each type */
	struct map pairs;         /* two types: 1 + where in pair_habits */
	struct map pool_pairs;    /* a type and a pool: likewise */
	VEC(struct habit) pair_habits;
	struct habit *pools; /* of each pool of threads */
};

void timeline_init(struct timeline *t, const struct work *w, const struct subjects *s);
void timeline_done(struct timeline *t);
/* Numbers the turns, by what the steps show that are there now. */
void timeline_cut(struct timeline *t);
/* Whether requests take turns at the objects at all, by how the time line was cut. */
bool timeline_is_by_turns(const struct timeline *t);
/* The family that the line itself names; 0: none, or several. */
uint32_t timeline_family(const struct work *w, const struct seen_line *l);

#endif
