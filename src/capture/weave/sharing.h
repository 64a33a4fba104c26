/* Who has a file of a watched process mapped as code: it and those below it, or strangers as well,
 * which a breakpoint in the file would slow down. */
#ifndef CULPRIT_CAPTURE_WEAVE_SHARING_H
#define CULPRIT_CAPTURE_WEAVE_SHARING_H

#include <stddef.h>
#include <sys/types.h>

#include "base/vec.h"

struct sharing {
	dev_t device;
	ino_t file;
	VEC(int) ours; /* the process, and those below it that have the file */
	size_t nr_strangers;
};

void sharing_look(struct sharing *s, int pid, const char *module);
void sharing_done(struct sharing *s);

#endif
