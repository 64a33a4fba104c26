/* What a set of constants is made of, for the two files that know. */
#ifndef CULPRIT_IDENT_CONSTANTS_MADE_H
#define CULPRIT_IDENT_CONSTANTS_MADE_H

#include "base/names.h"
#include "base/vec.h"
#include "ident/constants.h"
#include "ident/constants_automaton.h"
#include "ident/constants_pattern.h"

/* Of a piece that stands at a hole wherever it is used: a value is between it and what is next. */
enum {
	TEXT_AFTER_VALUE = 1,
	TEXT_BEFORE_VALUE = 2,
	TEXT_NAMES_VALUE = 4, /* that follows: "user=", "port: " */
};

struct constants {
	size_t bytes_max, bytes;
	uint64_t nr_left;
	struct names pieces;   /* text only */
	struct names patterns; /* with holes */
	VEC(uint8_t) next_to;  /* by symbol of the piece, TEXT_… */
	struct str *texts;     /* the pieces, in byte order */
	uint8_t *text_next_to; /* the same by text */
	uint32_t nr_texts;
	struct automaton automaton;
	uint32_t *first_pattern; /* by number of the anchor: where in by_anchor */
	uint32_t *by_anchor;     /* symbols of patterns */
};

#endif
