/* Functions of a module that leave by another way than they came, or that look at return addresses:
 * what must not be watched, and what must be known of where others are. */
#ifndef CULPRIT_CAPTURE_PROBE_EXITS_H
#define CULPRIT_CAPTURE_PROBE_EXITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

enum exit_kind {
	EXIT_UNWINDS, /* walks up the stack by return addresses */
	EXIT_CATCHES, /* is called when that is over */
	EXIT_LEAVES,  /* returns twice, never, or to somebody else */
};

struct exit_function {
	uint64_t address, size; /* of the file */
	enum exit_kind kind;
};

/* Zero is empty. */
struct exits {
	VEC(struct exit_function) v;
	bool has_handlers; /* code that exceptions go to */
	bool has_unwinder;
	bool has_walker; /* the runtime of its language finds its way on stacks by tables of its own
			  */
};

/* A file that cannot be read has none. */
void exits_read(struct exits *e, const char *path);
void exits_done(struct exits *e);

#endif
