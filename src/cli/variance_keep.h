/* Intervals of a live variance as requests of a run: all of them while they are few, then fewer and
 * fewer, the slow ones always. */
#ifndef CULPRIT_CLI_VARIANCE_KEEP_H
#define CULPRIT_CLI_VARIANCE_KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "cli/branch.h"

struct error;
struct interval;
struct losses;
struct store;
struct variance_part;

/* Zero keeps nothing. */
struct keep {
	struct store *store;
	const char *type;
	int64_t wall_ns; /* what has to be added to CLOCK_MONOTONIC */
	uint64_t nr, nr_spans;
	unsigned thin;      /* one in 2^thin has its spans kept */
	int64_t slow_ns;    /* as slow as the slowest hundredth, about */
	struct map node_of; /* by process: name in the arena */
	struct arena arena;
	struct buf packed, attrs;
	struct branch showing; /* who makes a run of what there is: nothing is added meanwhile */
};

int keep_open(struct keep *k, const char *path, const char *type, struct error *err);
void keep_done(struct keep *k);
/* Whether its spans shall be kept. */
bool keep_wants(struct keep *k, const struct interval *v);
/* parts: where its time went, as the tree takes it. */
int keep_add(struct keep *k, const struct interval *v, unsigned round,
	     const struct variance_part *parts, size_t nr, struct error *err);
/* Makes a run of what there is so far, for who looks on, while that takes little time: a child does
 * so. Until it has ended (keep_is_busy), nothing may be added. */
int keep_show(struct keep *k, unsigned round, const struct losses *losses, struct error *err);
bool keep_is_busy(struct keep *k);
void keep_wait(struct keep *k);
/* Makes the run whole; round: the one that is told. */
int keep_finish(struct keep *k, unsigned round, const struct losses *losses, struct error *err);

#endif
