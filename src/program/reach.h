/* Which pieces of work come to a place in the program, and by which calls. */
#ifndef CULPRIT_PROGRAM_REACH_H
#define CULPRIT_PROGRAM_REACH_H

#include "program/identifiers.h"

struct step {
	uint32_t method; /* that calls what the step before is of, or the place itself */
	uint16_t pc;
};

/* The shortest one. */
struct way {
	uint32_t from; /* a top-level method; or a link: the entry of a thread that does not log */
	bool is_link;
	struct step *steps; /* from the caller of the place's method up to from; may be empty */
	uint32_t nr;
};

struct ways {
	struct way *v;
	uint32_t nr;
	bool is_known;
	bool is_wide; /* everything comes there: that tells nothing */
};

struct reach {
	const struct callgraph *g;
	const struct identifiers *ids;
	struct arena arena;
	struct ways *of; /* by method */
	uint32_t *stamp, now;
};

void reach_init(struct reach *r, const struct callgraph *g, const struct identifiers *ids);
void reach_done(struct reach *r);
/* To the method; the walk up ends at the first top-level method on each way. */
const struct ways *reach_to(struct reach *r, uint32_t method);
/* Whether the place may be passed again and again while the method runs once. */
bool reach_is_repeated(const struct program *p, uint32_t method, uint16_t pc);

#endif
