/* The files that tail.h knows of: which of them a file is, and where what was in one is now. */
#ifndef CULPRIT_HOST_TAIL_SEARCH_H
#define CULPRIT_HOST_TAIL_SEARCH_H

#include "base/map.h"
#include "base/vec.h"
#include "host/tail.h"
#include "host/tail_file.h"

struct tail {
	struct tail_options o;
	VEC(struct tail_file *) files;
	char *bytes;           /* for what is read */
	struct map unreadable; /* paths that were counted as such */
	bool has_looked;
};

/* What an earlier start read of is found again wherever it is now, the first time this is called.
 */
void tail_look_for_all(struct tail *t);
/* The file is begun anew; what it held and nobody read is looked for. */
void tail_was_cut(struct tail *t, struct tail_file *f, uint64_t size);
/* Its name is another's, or nobody's. */
void tail_was_rotated(struct tail *t, struct tail_file *f);

#endif
