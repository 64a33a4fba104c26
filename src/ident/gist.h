/* A text with one sign in place of each run of digits: texts that differ in nothing else have the
 * same, so that what the look of a line shows is found out once for all of them. */
#ifndef CULPRIT_IDENT_GIST_H
#define CULPRIT_IDENT_GIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { GIST_BYTES = 1024, GIST_RUNS = 128 };

/* The sign says how many digits there are by token_digits, or that it is a hexadecimal number or a
 * UUID as in token.h: nothing else may decide what a text shows. */
struct gist {
	uint64_t hash;
	size_t n, nr;
	uint16_t starts[GIST_RUNS], ends[GIST_RUNS]; /* of each run, in the text */
	char text[GIST_BYTES + 64];
};

/* False when the text is too long, or has too many numbers. */
bool gist_make(struct gist *g, struct str text);

/* A place in the text by the run in front of it, for all texts with the same gist. False when it
 * is within a run. */
struct gist_place {
	uint16_t run, offset; /* from 1; 0 for the beginning of the text */
};
bool gist_note(const struct gist *g, size_t at, struct gist_place *place);

static inline size_t gist_find(const struct gist *g, struct gist_place place)
{
	return (place.run ? g->ends[place.run - 1] : 0) + (size_t)place.offset;
}

#endif
