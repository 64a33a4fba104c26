/* The moments at which lines name an object, as many as are good to draw. */
#ifndef CULPRIT_ASK_OBJECTS_TIMES_H
#define CULPRIT_ASK_OBJECTS_TIMES_H

#include <stddef.h>
#include <stdint.h>

#include "model/object.h"

struct row;
struct section;

/* How many moments one of these objects may have, so that all of them fit into one answer. */
size_t times_most(const struct object_graph *g, const uint32_t *objects, size_t nr);

/* Which moments of an object: in [from_ns, until_ns), at most so many. */
struct times_wanted {
	int64_t from_ns, until_ns;
	size_t most;
};

/* Two cells with ns after the object's first moment, in order: of all lines, and of those that tell
 * of errors, which is left empty where there are none. Gives the number of lines that were left
 * out: of each template the first and the last are known, and too many are thinned out evenly. */
uint64_t times_cells(struct section *s, struct row *row, size_t times, size_t errors,
		     const struct object *o, const struct times_wanted *w);

#endif
