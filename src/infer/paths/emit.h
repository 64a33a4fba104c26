/* Makes requests of calls whose parents are known: one span for each call, on the node called. */
#ifndef CULPRIT_INFER_PATHS_EMIT_H
#define CULPRIT_INFER_PATHS_EMIT_H

#include <stdint.h>

#include "base/str.h"

struct error;
struct feed;
struct store;
struct window;

struct emit {
	struct store *store;
	const struct feed *feed;
	struct str method;
	const int64_t *linger; /* by node: how long after its reply it may still make calls */
};

/* Stores the requests of which all was over at until or before, and sets gone[call] to CALL_NONE
 * for the calls in them. A call that nothing was seen of but one message is let go. */
int emit_requests(const struct emit *e, struct window *w, int64_t until, uint32_t *gone,
		  struct error *err);

#endif
