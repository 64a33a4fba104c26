/* Runs of advice that processes could not make, since what they read has not come from another host
 * yet: kept, in the order in which they came, until it has. */
#ifndef CULPRIT_CAPTURE_WEAVE_HELD_H
#define CULPRIT_CAPTURE_WEAVE_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "capture/weave/reap.h"

#define HELD_BYTES ((size_t)128 << 20)

struct held_run {
	uint32_t query, which;
	uint64_t time_ns;
	int64_t since; /* tick */
	size_t bytes;  /* of all of it */
	size_t bag_bytes;
	uint8_t nr_inputs;
	char *texts; /* that inputs borrow */
	void *bag;
	struct advice_value inputs[]; /* in the order of their numbers */
};

/* Zero is empty. */
struct held {
	VEC(struct held_run *) v;
	size_t bytes;
	uint64_t nr_full; /* runs for which there was no room */
};

void held_done(struct held *h);
/* A copy; false where it makes no sense. */
bool held_add(struct held *h, uint32_t query, const struct reaped_run *run, int64_t tick);
/* each: true when it is done with. */
void held_try(struct held *h, bool (*each)(void *ctx, const struct held_run *r), void *ctx);
size_t held_count(const struct held *h, uint32_t query);

#endif
