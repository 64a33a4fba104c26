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

/* One who waits for its turn may find that it has been answered meanwhile. */
void apart_lock(struct apart *a);
void apart_unlock(struct apart *a);
/* Runs this program with these arguments, which end with NULL, while locked: its output is added to
 * *answer. What nobody waits for yields to others. 0, 1 nothing found, or negative. */
int apart_ask(struct apart *a, char *const *args, bool is_awaited, struct buf *answer,
	      struct error *err);

#endif
