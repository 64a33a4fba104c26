/* What a set of constants is made of, for the two files that know. */
#ifndef CULPRIT_IDENT_CONSTANTS_MADE_H
#define CULPRIT_IDENT_CONSTANTS_MADE_H

#include "base/names.h"
#include "ident/constants.h"
#include "ident/constants_automaton.h"
#include "ident/constants_pattern.h"

struct constants {
	size_t bytes_max, bytes;
	uint64_t nr_left;
	struct names pieces;   /* text only */
	struct names patterns; /* with holes */
	struct str *texts;     /* the pieces, in byte order */
	uint32_t nr_texts;
	struct automaton automaton;
	uint32_t *first_pattern; /* by number of the anchor: where in by_anchor */
	uint32_t *by_anchor;     /* symbols of patterns */
};

#endif
