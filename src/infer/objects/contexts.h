/* What a line is about beside the things that it names: those of which its log names one only,
 * again and again, and those that the path of its log names. */
#ifndef CULPRIT_INFER_OBJECTS_CONTEXTS_H
#define CULPRIT_INFER_OBJECTS_CONTEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct census;
struct kind;

enum { MAX_CONTEXTS = 32 };

struct context {
	uint32_t kind, thing; /* UINT32_MAX: the line names several, which one is not told */
};

struct contexts {
	VEC(struct context) v; /* log by log */
	VEC(uint32_t) at;      /* of each log; one more */
	bool *is_in_path;      /* by kind: paths of logs name it */
};

void contexts_find(struct contexts *s, struct census *w);
void contexts_done(struct contexts *s);
/* The contexts of a line: what it names itself, then what its log does. */
size_t contexts_of(const struct contexts *s, const struct census *w, size_t note, uint32_t log,
		   struct context *v);
/* Numbers and words are no context: they need one. */
bool contexts_may_be(const struct kind *k);

#endif
