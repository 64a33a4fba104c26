/* The constant strings of programs in one automaton, which tells the text of a statement from what
 * varies. */
#ifndef CULPRIT_IDENT_CONSTANTS_H
#define CULPRIT_IDENT_CONSTANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"

struct constants;
struct error;
struct losses;

/* First constants are added, then they are settled, then lines are asked about, by any number of
 * threads; more may be added when nobody asks, and settled again. bytes_max bounds the memory of
 * the automaton, 0: 256 MiB; what is beyond it is counted.
 */
struct constants *constants_new(size_t bytes_max);
void constants_free(struct constants *c);
/* One string as program/strings.h gives it, holes included; twice is once. */
void constants_add(struct constants *c, struct str s);
/* All strings of these program files. A file that cannot be read is counted, not a failure. */
void constants_load(struct constants *c, const char *const *paths, size_t nr,
		    struct losses *losses);
void constants_settle(struct constants *c, struct losses *losses);
/* How many there are: strings, and patterns among them. */
size_t constants_nr(const struct constants *c);
size_t constants_nr_patterns(const struct constants *c);
size_t constants_bytes(const struct constants *c);

/* [from, to) of a line. */
struct stretch {
	uint32_t from, to;
};

/* A place where a constant was found, and how it stands to values: TEXT_… of constants_made.h. */
struct hit {
	uint32_t from, to;
	uint8_t next_to;
};

/* Which part of a line is constant; zero is a valid, empty one, and one serves many lines. */
struct cover {
	VEC(struct stretch) constant; /* in order, neither overlapping nor touching */
	uint32_t nr_bytes;            /* that are constant */
	bool is_pattern;              /* a statement was found that formats this stretch */
	bool is_open;                 /* which ends with a value that goes on behind it */
	struct stretch pattern;
	VEC(struct hit) hits; /* scratch */
	VEC(uint64_t) best;
};

/* What stands behind the first 4 KiB of the line is taken to vary. */
void constants_cover(const struct constants *c, struct str line, struct cover *out);
/* Whether the stretch is all that stands between two constants of a statement, but for signs. */
bool cover_is_value(const struct cover *v, struct str line, struct stretch s);
void cover_done(struct cover *v);

#endif
