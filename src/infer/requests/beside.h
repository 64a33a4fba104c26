/* Numbers of pairs: of a thing and something beside it. Those of one thing stand together, so that
 * asking for one after another stays in the cache. */
#ifndef CULPRIT_INFER_REQUESTS_BESIDE_H
#define CULPRIT_INFER_REQUESTS_BESIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

struct beside_list {
	uint32_t at; /* in pool */
	uint16_t nr, room;
};

struct beside_entry {
	uint32_t other, value;
};

struct beside_pair {
	uint32_t thing, other, value;
};

/* Zero is a valid, empty one. */
struct beside {
	VEC(struct beside_list) of; /* of each thing */
	VEC(struct beside_entry) pool;
	struct map beyond; /* pairs of things that have many: 1 + where in far */
	VEC(struct beside_pair) far;
	size_t nr; /* pairs */
};

/* Where a walk over all pairs stands; zero is the beginning. */
struct beside_cursor {
	size_t thing, at;
};

void beside_done(struct beside *b);
/* Where the number of the pair stands, zero on first sight; valid until the next call. */
uint32_t *beside_at(struct beside *b, uint32_t thing, uint32_t other);
/* The same, or NULL when it was never seen. */
const uint32_t *beside_find(const struct beside *b, uint32_t thing, uint32_t other);
/* The next pair; false at the end. */
bool beside_next(const struct beside *b, struct beside_cursor *c, struct beside_pair *p);

#endif
