/* Ties each return to the call that it answers. */
#ifndef CULPRIT_INFER_PATHS_PAIRS_H
#define CULPRIT_INFER_PATHS_PAIRS_H

#include <stdint.h>

#include "base/vec.h"
#include "infer/paths/feed.h"

struct losses;
struct pairs;
struct window;

/* Returns that answer no call that is known, in the order of time. */
struct returns {
	struct message *v;
	size_t nr, room;
};

/* Orphans are counted in losses. */
struct pairs *pairs_new(struct losses *losses);
void pairs_free(struct pairs *p);
/* A call goes to the end of the window; a return closes the earliest call that it can answer, or
 * is an orphan. A message that is neither goes to the window too, when its sender owes an answer.
 */
void pairs_take(struct pairs *p, struct window *w, const struct message *m);
/* The caller clears it when he has looked. */
struct returns *pairs_orphans(struct pairs *p);
/* Two calls of equal keys have the same ends and the same id. */
uint64_t pairs_key(uint32_t caller, uint32_t callee, uint64_t id);
/* The key of every call that waits for its return, 0 for the others; from malloc. */
uint64_t *pairs_open_keys(const struct pairs *p, size_t nr_calls);
/* The calls of the window moved: each goes from its place to to[place], CALL_NONE for gone. */
void pairs_move(struct pairs *p, const uint32_t *to);

#endif
