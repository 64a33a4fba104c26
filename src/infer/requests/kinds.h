/* What the look of a kind of names tells about its names, found out once for each kind. */
#ifndef CULPRIT_INFER_REQUESTS_KINDS_H
#define CULPRIT_INFER_REQUESTS_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"

struct kind_look {
	uint32_t stem;   /* what blk#1 and blk#2 share, as a number; 0: it is no compound */
	uint32_t above;  /* blk#1 of blk#2, as a kind; 0: none */
	bool is_path;    /* path/user */
	bool is_numbers; /* #2: numbers alone, whoever is called after them */
	bool is_agreed;  /* @: a number that all ends in the line agreed on ... */
	bool is_sender;  /* @>: ... and who used it */
	bool is_address;
	bool is_number; /* pid=: a number with a name */
	bool is_mixed;  /* mix:a0 */
	bool is_word;   /* a word without digits: one of them names a thing */
	bool is_listed; /* several in one unit make it a list of things */
};

/* One for each kind; free() it. */
struct kind_look *kinds_look(const struct names *kinds);

#endif
