/* The graph of kinds (the paper's system stack structure): who belongs to whom, without circles. */
#ifndef CULPRIT_INFER_OBJECTS_STACK_H
#define CULPRIT_INFER_OBJECTS_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct relating;
struct census;

struct edge {
	uint32_t from, to; /* kinds */
	uint32_t tie;      /* of relating.ties */
	bool is_reduced;   /* implied by others */
};

struct stack {
	VEC(struct edge) edges; /* by from, then to */
	bool *is_in;            /* by kind: it has an edge, or each kind counts */
};

void stack_make(struct stack *s, const struct census *w, const struct relating *r);
void stack_done(struct stack *s);

#endif
