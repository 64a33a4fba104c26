/* What a message may look like: constant text and holes, in one or several versions. */
#ifndef CULPRIT_PROGRAM_TEXT_H
#define CULPRIT_PROGRAM_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "program/hole.h"

enum { PATH_MAX_FIELDS = 6 };
#define ROOT_LOCAL (-1)  /* made in the method itself */
#define ROOT_STATIC (-2) /* a static field, the first of the fields */

/* How to come to a value from a parameter of a method: its fields, "Class.field" each. */
struct path {
	uint32_t method;
	int16_t root; /* parameter, this included; or ROOT_LOCAL, ROOT_STATIC */
	uint16_t nr;
	struct str *fields; /* the last ones, when there are more */
};

/* The same way from the same root; of which method is not looked at. */
bool path_is_same(const struct path *x, const struct path *y);

struct part {
	const struct path *path; /* of a hole; may be NULL */
	enum part_kind kind;
	enum hole_type type;
	struct str text; /* of a hole: where its value comes from, such as Block.blockId */
};

struct version {
	struct part *parts;
	uint32_t nr;
	uint32_t letters; /* of constant text */
	uint32_t guesses; /* how often it holds only if a class below was printed, or nothing known
			   */
};

/* Lies in an arena. */
struct text {
	struct version *versions;
	uint32_t nr;
};

struct text text_empty(struct arena *a);
struct text text_of(struct arena *a, struct str constant);
struct text text_hole(struct arena *a, enum hole_type type, struct str from);
struct text text_hole_at(struct arena *a, enum hole_type type, struct str from,
			 const struct path *path);
struct text text_any(struct arena *a, struct str from);
/* One after the other: every version of one with every version of the other, the wordiest kept. */
struct text text_join(struct arena *a, struct text x, struct text y);
/* Either of both. */
struct text text_or(struct arena *a, struct text x, struct text y);
/* Without equal versions, neighbouring constants as one, those
 * with the fewest guesses first, then the wordiest. */
struct text text_tidy(struct arena *a, struct text x);
/* What both have in common, with something that may be anything in between. */
struct version version_cover(struct arena *a, const struct version *x, const struct version *y);
/* One more guess in each version. */
void text_guess(struct text t);
/* A copy of all of it. */
struct text text_keep(struct arena *a, struct text t);
/* "Receiving {} src: {}". */
void version_write(const struct version *v, struct buf *b);

#endif
