/* Records in a file, one a line, packed or not. */
#ifndef CULPRIT_CLI_ENGINE_LINES_H
#define CULPRIT_CLI_ENGINE_LINES_H

#include "base/buf.h"

struct error;
struct input;

struct engine_lines {
	struct input *in;
	struct buf bytes; /* read and not used up, from at on */
	size_t at;
};

/* "-" is standard input. */
int engine_lines_open(struct engine_lines *l, const char *path, struct error *err);
void engine_lines_close(struct engine_lines *l);
/* The next one without its end, borrowed until the next call: 1, or 0 when there is none. -ESTALE:
 * they end in the middle of one. */
int engine_lines_next(struct engine_lines *l, struct str *line, struct error *err);

#endif
