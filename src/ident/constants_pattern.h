/* Fits a string that formats something to a line: which bytes are of the string, which are values.
 */
#ifndef CULPRIT_IDENT_CONSTANTS_PATTERN_H
#define CULPRIT_IDENT_CONSTANTS_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "ident/constants.h"

enum { PATTERN_PIECES_MAX = 64 };

/* Whether the line may be cut at this place without cutting a word: numbers may stand next to the
 * letters of a schema. */
bool pattern_may_cut(struct str line, size_t at);
/* Whether the stretch is letters between digits, as in 1ab2: rather of a value than of a schema. */
bool pattern_is_within_word(struct str line, size_t from, size_t to);

/* The longest piece between holes, by which a line is looked for; empty when there is none. */
struct str pattern_anchor(struct str pattern);

/* How a pattern lies in a line. */
struct fit {
	struct stretch v[PATTERN_PIECES_MAX]; /* its pieces, in order */
	uint32_t nr;
	uint32_t to;  /* where the last piece ends, or the last value when its kind tells */
	bool is_open; /* it ends with a value of any kind, which goes on from there */
};

/* Fits the pattern to the line such that its anchor stands at this place; false when it does not
 * fit. */
bool pattern_fit(struct str pattern, struct str line, uint32_t anchor_at, struct fit *f);

#endif
