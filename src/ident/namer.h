/* Makes mentions of the lines of a log: what each names, and equal ones put together. */
#ifndef CULPRIT_IDENT_NAMER_H
#define CULPRIT_IDENT_NAMER_H

#include "base/str.h"
#include "model/level.h"
#include "model/mention.h"

struct arena;
struct constants;
struct losses;
struct overrides;
struct namer; /* for one thread at a time */

/* Where a line comes from. */
struct namer_where {
	struct str node, thread;
	enum level level;
};

/* Both may be NULL, and outlive all namers. */
struct namer_options {
	const struct overrides *overrides;
	const struct constants *constants;
};

/* NULL stands for neither. */
struct namer *namer_new(const struct namer_options *options);
void namer_free(struct namer *n);

/* A new round: mentions of the last one are no longer valid. */
void namer_begin(struct namer *n);
/*
 * The mention of a line (the first one of its text). Lines of a round that have the same
 * origin, template and identifiers share one. Its times, count and file are the caller's
 * (mention_count). Strings borrow from the text and the arena, which must last as long as
 * the round. What a line names twice stands once. What is left out is counted.
 */
struct mention *namer_line(struct namer *n, struct str text, const struct namer_where *at,
			   struct arena *arena, struct losses *losses);

#endif
