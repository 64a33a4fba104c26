/* Finds where JSON values begin and end without parsing them, many bytes at a time. */
#ifndef CULPRIT_SOURCE_JSON_SCAN_H
#define CULPRIT_SOURCE_JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* Where a scan stands; zero is "in front of a value". It may stop at any byte and go on with more.
 */
struct json_scan {
	uint64_t depth;    /* brackets open */
	bool in_string;    /* the next byte belongs to a string */
	bool after_escape; /* the byte before was an open backslash */
};

/*
 * Goes on until the outermost bracket closes: true, and *at stands behind it. False: the text
 * ended first, *at is its end. The first byte must be an opening bracket.
 */
bool json_scan_value(struct json_scan *s, struct str text, size_t *at);

/* The first byte from at on that is no white space, or text.n. */
size_t json_scan_space(struct str text, size_t at);
/* Behind the string that begins at at; 0 when it does not end in the text. */
size_t json_scan_string(struct str text, size_t at);
/* Behind a number, true, false or null that begins at at; text.n when it may go on. */
size_t json_scan_word(struct str text, size_t at);
/* Behind whatever value begins at at; 0 when it does not end in the text. */
size_t json_scan_any(struct str text, size_t at);

/* Whether the text begins like JSON: with a bracket, perhaps behind a byte order mark. */
bool json_scan_is_json(struct str head);
/* Whether the text begins with a bracket and its first line is a whole value: JSON lines. */
bool json_scan_is_lines(struct str head, bool whole);
/* Whether the member name stands somewhere in the text as a key. */
bool json_scan_has_key(struct str text, struct str name);

/*
 * Whole numbers that no 64 bits hold are valid JSON, but the parser refuses the whole text for one.
 * Writes the text with a fraction behind each of them, so that they become doubles; false when
 * there is none.
 */
bool json_scan_soften(struct str text, struct buf *out);

/* The arrays whose items are kept or dropped whole when the end of a text is missing. */
struct json_units {
	const struct str *arrays; /* by their member names */
	size_t nr_arrays;
	bool nameless; /* also arrays that are no member: the text itself, or inside another */
};

/*
 * Mends a value whose end is missing: cuts behind the last place where no item is left half, and
 * closes what is open. False when there is no whole item in front.
 */
bool json_scan_mend(struct str text, const struct json_units *units, struct buf *out);

#endif
