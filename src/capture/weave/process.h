/*
 * One process with its children, and the advice in it: which functions are patched for which pieces
 * of advice, in the memory of every family of processes that has come so far.
 */
#ifndef CULPRIT_CAPTURE_WEAVE_PROCESS_H
#define CULPRIT_CAPTURE_WEAVE_PROCESS_H

#include "base/map.h"
#include "base/vec.h"
#include "capture/probe/probe.h"
#include "capture/weave/reap.h"
#include "capture/weave/pieces.h"
#include "capture/weave/places.h"

struct buf;
struct error;
struct java_process;
struct probe_clock;

/* A function that is patched, or was. */
struct woven_function {
	struct probe_function how;
	const char *java;  /* lines of a place in a Java machine: nothing is patched; or NULL */
	bool is_begin;     /* … where nothing happens but that requests begin */
	uint64_t inputs;   /* what is asked for of its exports, by all who use it */
	uint32_t nr_woven; /* … methods that it is in */
	uint32_t nr_left;  /* … it was left alone, which is not told yet */
	uint32_t nr_uses;
	bool is_on, is_stale; /* stale: more is wanted of it than it was patched for */
	const char *why;      /* it cannot be */
	bool has_another_way; /* … but watched by breakpoints */
};

/* A piece of advice in all families. */
struct stitch {
	uint32_t query;
	uint32_t function;
	enum piece_moment moment;
	uint64_t order;
	struct probe_advice *advice; /* without what each family has of its own */
	VEC(int) numbers;            /* by family; negative: not there */
	bool is_beside;              /* another one stands for the same tracepoint */
};

struct woven_family {
	struct pieces *pieces;
	struct reap reap;
	struct carry_counts carried; /* as they were told last */
	char name[ADVICE_TEXT];      /* of the program */
	bool is_looked_at;           /* from outside as well (onlooker.h) */
};

struct woven_process {
	int pid;
	struct probe *probe;
	struct java_process *java; /* NULL: it is no Java machine */
	uint64_t session, host;
	struct map numbers; /* 1 + of a function, by hash of where it is */
	VEC(struct woven_function) functions;
	VEC(struct woven_family) families;
	VEC(struct stitch) stitches;
	struct probe_clock clock; /* as it was said last */
	bool has_ended;
	uint64_t run_limit;
	uint64_t nr_full; /* pieces for which there was no room */
};

/* host: a hash of its name. session: see struct probe_region. handover: the file of a struct
 * handover_table. */
int process_enter(struct woven_process *p, int pid, uint64_t host, uint64_t session, int handover,
		  const struct probe_clock *clock, struct error *err);
/* How often its threads may run advice where they are in Java (struct probe_region). */
void process_limit(struct woven_process *p, uint64_t run_limit);
/* All advice is gone and all patches are taken back. */
void process_leave(struct woven_process *p);

/* Whether the place may be in this process at all. */
bool process_has(const struct woven_process *p, const struct weave_place *place);
/* What is to run: advice, where its inputs are found being the place's. Nothing happens before
 * process_apply. */
void process_want(struct woven_process *p, const struct weave_place *place, uint32_t query,
		  uint32_t stage, const struct probe_advice *advice);
/* A function that carries what threads have in their bags: pthread_create and the like. */
void process_want_helper(struct woven_process *p, const struct probe_function *how, uint32_t query);
/* All that hands bags on in a Java machine, as long as the query is there. */
void process_want_carriers(struct woven_process *p, uint32_t query);
/* Who watches places that cannot be patched, or says why not. */
struct process_otherwise {
	void *to;
	bool (*watch)(void *to, int pid, const struct probe_function *how, enum piece_moment moment,
		      const struct probe_advice *a, struct error *err);
};
/* Patches what is new. told: a line for each function that cannot be patched. How many functions
 * run the query's advice now. */
int process_apply(struct woven_process *p, uint32_t query, const struct process_otherwise *other,
		  struct buf *told, struct error *err);
int process_remove(struct woven_process *p, uint32_t query, struct error *err);

/* Takes up families that are new, and says what time it is. */
int process_tend(struct woven_process *p, const struct probe_clock *clock, struct error *err);

#endif
