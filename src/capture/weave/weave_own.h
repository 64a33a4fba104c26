/* What is inside a weave: queries at work, the processes that they are in, and what waits for other
 * hosts. */
#ifndef CULPRIT_CAPTURE_WEAVE_WEAVE_OWN_H
#define CULPRIT_CAPTURE_WEAVE_WEAVE_OWN_H

#include "base/arena.h"
#include "base/vec.h"
#include "capture/probe/ticks.h"
#include "capture/weave/addresses.h"
#include "capture/weave/far_in.h"
#include "capture/weave/far_out.h"
#include "capture/weave/held.h"
#include "capture/weave/process.h"
#include "capture/weave/table.h"
#include "capture/weave/weave.h"
#include "lib/advice/spill.h"
#include "query/advice_compile.h"
#include "query/partial.h"
#include "query/spills.h"

struct advice_row;

struct weave_query {
	uint64_t id;
	uint32_t number;
	bool packs, is_removed;
	struct arena arena;
	struct plan plan;
	struct advice_set advice;
	struct tracepoints files;
	struct advice_shape shape;
	struct partial partial;
};

struct weave {
	char host[ADVICE_TEXT + 1];
	uint64_t host_hash, session;
	struct ticks ticks;
	struct programs programs;
	struct handover_table table;
	VEC(struct woven_process) processes;
	VEC(struct weave_query *) queries;
	struct weave_health health;
	struct reap_counts counts;
	struct probe_clock clock;
	uint64_t nr_ended; /* processes */
	struct far_in far_in;
	struct far_out far_out;
	struct held held;
	char addresses[HANDOVER_HERE][FAR_ADDRESS_TEXT];
	uint64_t news; /* of far_in, when runs that are held were tried last, … */
	int64_t tried; /* … and when that was, tick */
	struct spills *spills;
	struct bag_spill spill; /* of runs that are made here */
	uint64_t spill_record[SPILL_WORDS];
	uint64_t nr_writers;
};

/* A row that a process has told; ctx: the weave. */
void weave_row(void *ctx, const struct reaped *row);

/* weave_spill.c */
void spill_open(struct weave *w);
/* Finishes what can be; last: as spills_finish has it. */
void spill_tend(struct weave *w, uint32_t last);
void spill_close(struct weave *w);
/* A record that a process has told; ctx: the weave. */
void weave_spilled(void *ctx, const uint64_t *words, size_t nr);
/* A row of a run that was made here; ctx: the weave. */
void weave_emit(void *ctx, const struct advice_row *row);
/* Who writes in such a run: nobody else. */
void weave_writer_begin(struct weave *w, struct bag_writer *writer);

/* weave_far.c */
void far_open(struct weave *w, bool reaches_others);
/* Runs that were held, and can be made now. */
void far_tend(struct weave *w);
void far_close(struct weave *w);

#endif
