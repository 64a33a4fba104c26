/* Parts text into lines and counts them, many bytes at a time, and notes which need a closer look.
 */
#ifndef CULPRIT_SOURCE_LINES_H
#define CULPRIT_SOURCE_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Begin with lines_of; the last line may lack its newline. */
struct lines {
	const char *at, *end; /* what was not handed out yet */
	const char *block;    /* the block that newlines was found in, or would be next */
	uint64_t newlines;    /* one bit for each byte of the block that is not handed out yet */
	bool strange;         /* a byte since at may be NUL or not ASCII */
};

struct line {
	struct str text; /* without its line end (\n or \r\n) */
	bool strange;    /* may hold NUL bytes or bytes that are not ASCII; false is certain */
};

struct lines lines_of(struct str bytes);
bool lines_next(struct lines *l, struct line *line);
/* Newlines in there. */
uint64_t lines_count(struct str bytes);

#endif
