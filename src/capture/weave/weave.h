/*
 * Queries at work in running processes: installed as advice where their tracepoints are, and what
 * they tell reaped into partial results.
 */
#ifndef CULPRIT_CAPTURE_WEAVE_WEAVE_H
#define CULPRIT_CAPTURE_WEAVE_WEAVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "model/loss.h"

struct buf;
struct error;
struct partial;
struct plan;
struct reaped;
struct weave;

struct weave_options {
	const char *host;      /* what tracepoints export as host; NULL: the name of this one */
	bool reaches_others;   /* weave_hand_over and weave_take_over are called: connections to
				  other hosts carry */
	bool has_java_sockets; /* Java machines hand on over all connections, as others do */
	double overhead; /* of a thread's time, that advice in Java machines may cost; 0: any */
	/* Where a query asks of system calls only: those of all processes of this host. */
	bool is_of_host;
};

int weave_open(struct weave **w, const struct weave_options *o, struct error *err);
/* All advice is gone from all processes afterwards. */
void weave_close(struct weave *w);

/* Enters a process, with the children that it makes. Queries that are there already are installed
 * in it; what of them cannot be is told, a line each. */
int weave_enter(struct weave *w, int pid, struct buf *told, struct error *err);

/* Whether a query that stands asks of something that the process has, and it is not entered yet. */
bool weave_concerns(const struct weave *w, int pid);
/* Whether it has just begun, and is entered by itself as soon as it can be. */
bool weave_awaits(struct weave *w, int pid);

struct weave_request {
	uint64_t id;            /* the same in all agents */
	struct str text;        /* of the query, … */
	struct str tracepoints; /* … and of definitions, as in a file of them */
	struct str file;        /* how that is called in messages */
	/* Who takes each row as it is read, those of a thread in their order (reap.h), instead of
	 * the partial; NULL: nobody. */
	void (*row)(void *ctx, const struct reaped *row);
	void *ctx;
};
/* Compiles, verifies and installs in all processes. How many places run it, or -EINVAL with the
 * place in the query. told: as above, and warnings; what is the same of several processes is one
 * line (said.h). */
int weave_install(struct weave *w, const struct weave_request *r, struct buf *told,
		  struct error *err);
/* What it told by then is in its partial, until it is forgotten. */
int weave_remove(struct weave *w, uint64_t id, struct error *err);
void weave_forget(struct weave *w, uint64_t id);

/* Takes what was told. Rows that are not added up want it 20 times a second; with_groups: the
 * others, as well, once in a second. 1: all processes have ended, and everything was taken. */
int weave_gather(struct weave *w, bool with_groups, struct error *err);
/* What a query has told since its partial was last reset (the caller's to do); NULL: no such. */
struct partial *weave_partial(struct weave *w, uint64_t id);
const struct plan *weave_plan(const struct weave *w, uint64_t id);

/* --- between hosts -----------------------------------------------------------------------------
 */

/* What was sent to other hosts since, as messages for the agents that have those addresses; send:
 * negative when it cannot be done now. Often: who reads there waits for it. */
void weave_hand_over(struct weave *w, int (*send)(void *ctx, struct str to, struct str bytes),
		     void *ctx);
/* A message of another agent's weave. */
void weave_take_over(struct weave *w, struct str bytes);
/* The addresses of this host, as others name it: written into texts that stay until it is closed;
 * how many. They rise when processes of other network namespaces are entered. */
size_t weave_addresses(struct weave *w, const char **to, size_t room);
/* Runs of a query that wait for what another host has to hand over. */
size_t weave_waiting(const struct weave *w, uint64_t id);
/* They are not waited for any more, which its partial tells. */
void weave_give_up(struct weave *w, uint64_t id);

struct weave_health {
	uint32_t nr_processes, nr_families, nr_queries, nr_places;
	uint32_t nr_outside;                     /* of nr_places: watched from outside */
	uint64_t nr_runs;                        /* of advice */
	uint64_t nr_emitted;                     /* rows */
	uint64_t nr_packed;                      /* tuples */
	uint64_t nr_spilled;                     /* … of which no bag had room */
	uint64_t nr_finished;                    /* runs that needed such ones */
	uint64_t nr_unfinished;                  /* … and wait for them */
	uint64_t nr_bags_sent, nr_bags_received; /* over connections */
	struct losses losses;
};
void weave_health(const struct weave *w, struct weave_health *h);

#endif
