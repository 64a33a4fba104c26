/* What is inside a weave: queries at work, the processes that they are in, who looks from outside,
 * and what waits for other hosts. */
#ifndef CULPRIT_CAPTURE_WEAVE_WEAVE_OWN_H
#define CULPRIT_CAPTURE_WEAVE_WEAVE_OWN_H

#include "base/arena.h"
#include "base/vec.h"
#include "capture/weave/addresses.h"
#include "capture/weave/clock.h"
#include "capture/weave/far_in.h"
#include "capture/weave/far_out.h"
#include "capture/weave/held.h"
#include "capture/weave/offspring.h"
#include "capture/weave/onlooker.h"
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
	bool is_of_calls; /* system calls, and nothing else */
	struct arena arena;
	struct plan plan;
	struct advice_set advice;
	struct tracepoints files;
	struct advice_shape shape;
	struct partial partial;
	void (*row)(void *ctx, const struct reaped *row); /* as asked for */
	void *ctx;
};

struct weave {
	char host[ADVICE_TEXT + 1];
	uint64_t host_hash, session;
	struct weave_clock clock;
	struct programs programs;
	struct handover_table table;
	VEC(struct woven_process) processes;
	VEC(struct weave_query *) queries;
	struct weave_health health;
	struct reap_counts counts;
	uint64_t nr_ended; /* processes */
	struct offspring offspring;
	uint64_t nr_unentered; /* machines of those */
	uint64_t nr_late;      /* … and those that had begun when they were entered */
	bool was_held;         /* what was entered last stood still until it was woven */
	bool is_of_host, has_java_sockets;
	uint64_t run_limit;        /* as struct probe_region has it */
	struct onlooker *onlooker; /* NULL before anything is watched from outside */
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

/* What runs at a tracepoint, without where its inputs are; woven: or NULL, it only begins requests.
 * The caller's to free. */
struct probe_advice *weave_advice(const struct weave *w, const struct weave_query *q,
				  const struct tracepoint *t, const struct woven *woven);

/* weave_outside.c */
/* Families that are new are looked at from outside, too. */
void outside_families(struct weave *w);
/* The system calls of a query, of all processes at once: how many; told: what cannot be. */
int outside_install(struct weave *w, const struct weave_query *q, struct buf *told);
/* As struct process_otherwise has it; to: the weave. */
bool outside_watch(void *to, int pid, const struct probe_function *how, enum piece_moment moment,
		   const struct probe_advice *a, struct error *err);
int outside_tend(struct weave *w, struct error *err);
/* Of what is watched from outside it is known whose it is. */
void outside_losses(struct weave *w, struct weave_query *q);
void outside_remove(struct weave *w, struct weave_query *q);

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
