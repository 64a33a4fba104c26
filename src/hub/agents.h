/* The agents that a hub has heard of: which of their messages it has, and what to call their hosts.
 */
#ifndef CULPRIT_HUB_AGENTS_H
#define CULPRIT_HUB_AGENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/names.h"
#include "base/vec.h"

struct agents_range {
	uint64_t low, high; /* both are there */
};

struct agents_one {
	char *name;                      /* of its host, the same for no other */
	char *host;                      /* as it says */
	VEC(struct agents_range) ranges; /* in order, neither overlapping nor touching */
	uint64_t nr_messages;
	int64_t last_ns; /* the newest epoch */
};

/* Zero is none. */
struct agents {
	struct names ids;
	VEC(struct agents_one) v; /* by the number of their id, from 1 */
};

void agents_done(struct agents *a);
/* NULL when there are too many. */
struct agents_one *agents_at(struct agents *a, struct str id, struct str host);
bool agents_has(const struct agents_one *one, uint64_t seq);
/* False when it is there already. */
bool agents_add(struct agents_one *one, uint64_t seq);
/* Messages between others that are there. */
uint64_t agents_nr_missing(const struct agents *a);

/* Which are there, as text: a line for each agent. */
void agents_write(const struct agents *a, struct buf *b);
/* Adds what such a text says; false when it is none. */
bool agents_read(struct agents *a, struct str text);

#endif
