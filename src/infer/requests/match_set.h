/* The texts that a message is held against, found by how it begins and by what it holds. */
#ifndef CULPRIT_INFER_REQUESTS_MATCH_SET_H
#define CULPRIT_INFER_REQUESTS_MATCH_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "infer/requests/match_fit.h"

/* A text, and the logger under which it stands in the set. */
struct match_item {
	const struct match_pattern *pattern;
	struct str logger;
};

struct match_set;

/* The items are put in another order; everything lies in the arena. */
const struct match_set *match_set_new(struct arena *a, struct match_item *items, uint32_t nr);

/* False ends the walk. */
typedef bool match_visit(void *ctx, const struct match_item *item);
/*
 * Hands over every item that may fit, the surest first: those that begin as the message does, from
 * the longest beginning on, then those that begin with a hole. least: items with fewer letters may
 * be left out; it is looked at again before each item, as it may grow meanwhile.
 */
void match_set_visit(const struct match_set *set, struct str message, const uint32_t *least,
		     match_visit *visit, void *ctx);

#endif
