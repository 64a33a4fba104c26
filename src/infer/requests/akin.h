/* In what two units of work are alike: by whom they are done, to what, and for whom. */
#ifndef CULPRIT_INFER_REQUESTS_AKIN_H
#define CULPRIT_INFER_REQUESTS_AKIN_H

#include "infer/requests/hold.h"

/* Whether the thread is there for this unit alone: it is called after something that it names. */
bool akin_dedicated(const struct work *w, const struct unit *u);
/* Whether the same one does it to the same thing: two names of different kinds agree. */
bool akin_by_the_same(const struct work *w, const struct unit *a, const struct unit *b,
		      uint32_t thing);
/* Whether the unit names the thing, or what owns what it names, and not just something below it. */
bool akin_names(const struct work *w, const struct unit *u, uint32_t thing);
/* Whether both name the same, and nothing that the first names owns that: the file that is written,
 * not a block of it. */
bool akin_for_the_same(const struct work *w, const struct owners *o, const struct unit *first,
		       const struct unit *u);
/* Whether both name the same one that is no part of what the first deals with: a client. */
bool akin_of_one_caller(const struct work *w, const struct owners *o, const struct unit *first,
			const struct unit *u);
/* Whether both, or their threads, name the same one that is no part of anything. */
bool akin_called_by_one(const struct work *w, const struct owners *o, const struct unit *a,
			const struct unit *b);
/* Whether what both deal with lies in one folder, as far as it lies in any. */
bool akin_beside(const struct work *w, const struct unit *a, const struct unit *b);
/* Who calls both, which have the thing in common, or 0. */
uint32_t akin_caller(const struct work *w, const struct owners *o, const struct unit *a,
		     const struct unit *b, uint32_t thing);

/* Whether the name is just part of a path that the line names. */
bool akin_in_path(const struct work *w, const struct seen_line *l, uint32_t name);

#endif
