/* What a kind of silence waits for: the ends of other objects that coincide with its end more often
 * than by chance. */
#ifndef CULPRIT_ASK_OBJECT_CAUSES_H
#define CULPRIT_ASK_OBJECT_CAUSES_H

#include "ask/object_waits.h"

#define CAUSE_END UINT32_MAX

struct object_cause {
	uint32_t type;     /* whose ends coincide */
	uint32_t template; /* the line that ends them, or CAUSE_END for their last */
	uint32_t after;    /* what ends the silences */
	int64_t within_ns; /* so long before the silence ends */
	uint32_t hits, nr; /* silences that end so, of how many that end at different times */
	double expected;   /* hits by chance */
	double confidence; /* that it is none, after all that was tried */
	/* Types of owners, or UINT32_MAX: the highest of which most hits have another one
	 * ("containers of another user"), and the lowest of which they have the same. */
	uint32_t elsewhere, together;
};

/* The moments when objects end, by type and by the lines that stand late in their lives. */
struct object_ends;

struct object_ends *object_ends_new(const struct object_graph *g);
void object_ends_free(struct object_ends *e);
const struct object_graph *object_ends_graph(const struct object_ends *e);

/* Silences of fewer ends than these tell nothing. */
#define CAUSE_WAITS_LEAST 6

/* 1 and the cause of that kind, 0 when nothing coincides better than chance. */
int object_cause(const struct object_ends *e, const struct object_waits *w, uint32_t kind,
		 struct object_cause *c);
/* The object whose end that of the wait coincides with, the nearest in time: 1, its number and the
 * moment, or 0. */
int object_cause_of(const struct object_ends *e, const struct object_cause *c,
		    const struct object_wait *wait, uint32_t *object, int64_t *ns);

#endif
