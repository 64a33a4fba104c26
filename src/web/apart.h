/* Puts a question that takes much memory and time in a process of its own, one at a time: the
 * server stays small however large a run is. */
#ifndef CULPRIT_WEB_APART_H
#define CULPRIT_WEB_APART_H

#include <stdbool.h>

#include "base/buf.h"

struct apart;
struct error;

struct apart *apart_new(void);
/* Whoever waits for an answer must have got it. */
void apart_free(struct apart *a);
/* From now on nothing is asked, and what is being asked fails. */
void apart_stop(struct apart *a);

/* Who asks for what, and whether he still waits. */
struct apart_asker {
	struct str key;
	bool is_ahead;             /* nobody waits yet: he yields to whoever does */
	bool (*is_over)(void *to); /* NULL: he waits to the end */
	void *over_to;
};

/* One who waits for its turn may find that it has been answered meanwhile. */
void apart_lock(struct apart *a, const struct apart_asker *who);
void apart_unlock(struct apart *a);
/* Runs this program with these arguments, which end with NULL, while locked: its output is added to
 * *answer. 0, 1 nothing found, or negative: -ECANCELED where it was ended because others wait for
 * other answers and nobody for this one, or nobody came back for it. */
int apart_ask(struct apart *a, char *const *args, const struct apart_asker *who, struct buf *answer,
	      struct error *err);

#endif
