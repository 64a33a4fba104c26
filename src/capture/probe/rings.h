/* Reads the rings of one family. What stands in them was written by a stranger. */
#ifndef CULPRIT_CAPTURE_PROBE_RINGS_H
#define CULPRIT_CAPTURE_PROBE_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "capture/probe/namesake.h"
#include "capture/probe/probe.h"
#include "capture/probe/sites.h"
#include "capture/probe/ticks.h"
#include "wire/probe_region.h"

struct error;

struct rings {
	struct probe_region *region; /* NULL: all of the family are gone, and all was read */
	uint64_t bytes;
	uint32_t nr, number; /* number: of the family */
	int pid;             /* the first of the family */
	bool is_over;        /* all of the family are gone */
	struct namesakes names;
	int only;                         /* the process that is told of, 0 for all */
	uint64_t leave;                   /* where our own code is: no site */
	uint64_t nr_unseen, nr_generated; /* when it was opened */
	struct ring_seen {
		uint64_t owner, here, tail; /* here: the owner as we know it */
		uint64_t nr_dropped, nr_too_deep, nr_unwound;
	} *seen;
	VEC(struct function_call) calls;
	VEC(struct mark) marks;
};

struct rings_counts {
	uint64_t nr_records, nr_calls, nr_marks, nr_dropped, nr_too_deep, nr_unwound, nr_threads;
	uint64_t nr_damaged; /* records that make no sense */
	uint64_t nr_unseen, nr_generated;
	struct map processes; /* that were told of */
};

/* fd is taken over. pid: one of the family. */
int rings_open(struct rings *r, int fd, uint64_t bytes, int pid, struct error *err);
void rings_close(struct rings *r);
/* 0 where our own code is called from. */
uint32_t rings_site(const struct rings *r, struct sites *s, int pid, uint64_t address);
int rings_read(struct rings *r, const struct ticks *ticks, struct sites *sites,
	       const struct probe_reader *to, struct rings_counts *counts, struct error *err);

#endif
