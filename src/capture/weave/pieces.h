/*
 * Pieces of advice in the memory that is shared with a family of processes: put there, chained to
 * functions, and taken away while the processes run.
 *
 * Nobody waits. A piece that was taken away is used again only when every thread has been seen
 * outside of advice since.
 */
#ifndef CULPRIT_CAPTURE_WEAVE_PIECES_H
#define CULPRIT_CAPTURE_WEAVE_PIECES_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/probe/probe.h"
#include "wire/probe_region.h"

enum piece_moment { PIECE_ENTRY, PIECE_EXIT, PIECE_UNWOUND };

struct piece {
	enum { PIECE_FREE, PIECE_USED, PIECE_LEAVING } state;
	enum piece_moment moment;
	uint32_t function;
	uint64_t order;   /* of pieces at one place, rising */
	uint16_t next;    /* 1 + another */
	uint64_t *inside; /* LEAVING: by ring, what it said when it was left; 0: was outside */
	uint32_t nr_inside;
};

/* What stands in the region is ours: this is what we go by. */
struct pieces {
	struct probe_view view;
	struct piece v[PROBE_ADVICES];
};

struct pieces *pieces_new(struct probe_view view);
void pieces_free(struct pieces *p);
/* Its number, or -ENOSPC. */
int pieces_add(struct pieces *p, uint32_t function, enum piece_moment moment, uint64_t order,
	       const struct probe_advice *advice);
void pieces_remove(struct pieces *p, int number);

#endif
