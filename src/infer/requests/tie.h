/* Which unit of work follows from which, by what both name and by how regularly one comes after the
 * other. */
#ifndef CULPRIT_INFER_REQUESTS_TIE_H
#define CULPRIT_INFER_REQUESTS_TIE_H

#include "infer/requests/hold.h"

/* Units further apart have nothing to do with each other. */
#define TIES_WINDOW_NS (120 * INT64_C(1000000000))

/* An earlier unit that names the same. */
struct candidate {
	uint32_t unit;
	uint32_t thing; /* the rarest that both name */
	float bits;     /* how rare, less what is doubtful */
	bool is_last;   /* the last one of its type, where another one has more in common */
};

/* How long after such a unit such another one first came: logarithms of milliseconds. */
struct delays {
	double nr, sum, squares;
};

struct ties {
	VEC(struct candidate) v;
	VEC(uint32_t) at;    /* of each unit: where its candidates begin */
	VEC(uint32_t) types; /* of the units: from which statements, the first line's first */
	VEC(uint32_t) types_at;
	struct map follows;   /* type and type: how many of the first are followed by the second */
	uint32_t *nr_of_type; /* units with a line of it */
	struct map again;     /* type and type: superseded units that were followed all the same */
	uint32_t *nr_again;   /* of each type: units after which the same was done again */
	struct map delay_at;  /* type and type, of first lines: 1 + where its delays stand */
	VEC(struct delays) delays;
	float *bits;    /* of each thing, by units */
	uint32_t *sort; /* of each unit: those of one sort are from the same statements ... */
	uint32_t *set;  /* ... and those of one set name the same */
};

void ties_find(struct ties *l, struct work *w, const struct owners *o);
void ties_done(struct ties *l);
/* How surely a unit with a line of the first type is followed by a line of the second: a lower
 * bound. */
double ties_share(const struct ties *l, uint32_t type, uint32_t next);

/* The same for a statement in the middle of units, of which there are many to choose from. */
double ties_share_beside(const struct ties *l, uint32_t type, uint32_t next);

/* How widely the delays between two such units are spread: the standard deviation of their
 * logarithms; large when nothing is known. */
double ties_spread(const struct ties *l, uint32_t type, uint32_t next);

/* How long it is between two such units, in the geometric mean: ns, INT64_MAX when nothing is
 * known.
 */
int64_t ties_delay(const struct ties *l, uint32_t type, uint32_t next);

#endif
