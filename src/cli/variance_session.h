/* What a live variance has open: the process, its functions, the states of its threads, the
 * intervals, the tree of the round, the run. */
#ifndef CULPRIT_CLI_VARIANCE_SESSION_H
#define CULPRIT_CLI_VARIANCE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "ask/variance/tree.h"
#include "cli/variance_cost.h"
#include "cli/variance_java.h"
#include "cli/variance_keep.h"
#include "cli/variance_learn.h"
#include "cli/variance_live.h"
#include "cli/variance_watchlist.h"
#include "cli/watched.h"
#include "infer/intervals/intervals.h"
#include "model/loss.h"
#include "program/functions.h"

#define ROUND_INTERVALS 200 /* that one has to see to tell something, … */
#define ROUND_WATCHED 4     /* … in this part of --round at least, pauses apart */
#define WAKES_TOLD 8

struct interval_spec;
struct intervals;
struct probe;
struct sched;
struct statics;

/* Since the set of functions that are watched changed. */
struct round {
	unsigned number;       /* from 1 */
	int64_t began, looked; /* looked: when it was last asked what matters */
	int64_t paused_ns;     /* of the session, when it began */
	uint64_t nr_intervals;
	int64_t total_ns; /* of all of them */
	int64_t last_ns;  /* when the last of them ended */
	struct variance_tree *tree;
};

/* It loses no more than the budget allows: after a while of watching, a pause. */
struct pace {
	bool is_paused;
	int64_t since, until; /* of this while, or of this pause */
};

/* Of session.processes. */
enum { PROCESS_OURS = 1, PROCESS_OTHER };

struct session {
	const struct live_options *options;
	int pid;
	int root; /* whose children are watched, where it is not the process itself; 0: it is */
	struct watched watched;
	struct functions functions;
	struct watchlist list;
	struct probe *probe;
	struct sched *sched;     /* NULL where states of threads are not seen */
	struct statics *statics; /* NULL where no static probe is named */
	struct java java;
	struct uprobing {
		struct uprobes *uprobes; /* NULL where all could be patched */
		bool is_refused;         /* none can be used */
		int64_t call_ns;         /* what a call costs, entry and exit */
		unsigned nr;             /* functions */
		int64_t looked;          /* when it was last asked what they cost, … */
		uint64_t nr_hits;        /* … and how often they were passed by then */
		double cost;             /* share of a processor that they took, at the most */
	} uprobing;
	struct intervals *intervals;
	struct interval_wake wakes[WAKES_TOLD]; /* when all is over */
	size_t nr_wakes;
	struct keep keep;
	struct losses losses;
	struct round round;
	struct round best; /* the latest one that saw enough, else the one that saw most */
	struct arena arena;
	const char *type;
	struct map processes;            /* that calls came from */
	VEC(struct variance_part) parts; /* of one interval */
	int64_t began, cooled, told;
	int64_t works_tried; /* when amounts were last looked for */
	int64_t until;       /* all before was told */
	uint64_t nr_dropped; /* records, by then */
	int64_t cpu_ns;      /* of the processes, when costs were last looked at */
	bool has_ended;      /* the process */
	struct pace pace;
	unsigned nr_windows; /* of watching */
	struct account account;
	struct overhead overhead; /* when all is over */
	struct learning learning;
	bool is_refining;  /* a round is over, and what comes next is being found out */
	int nr_changed;    /* functions that are watched, or not any more, when it is over */
	int64_t paused_ns; /* in which nothing was seen */
	unsigned nr_drawn; /* lines that tell how it goes */
};

/* Finds or starts the process that it is about; one that was started stands still. */
int session_find_programs(struct session *s, struct error *err);
/* 1: the process has what tells the interval; 0: *err says what it lacks. Its functions are read.
 */
int session_has(struct session *s, int pid, struct error *err);
int session_attach(struct session *s, struct error *err);
/* Finds the functions that tell the interval, and watches them and what they call. */
int session_begin(struct session *s, struct error *err);
/* Takes what happened since. 1: the process is gone. */
int session_pump(struct session *s, struct error *err);
/* Leaves functions alone that cost too much. */
int session_cool(struct session *s, double budget, struct error *err);
/* Costs are counted from now on: nothing was watched for a while. */
void session_cost_anew(struct session *s);
/* Pauses and goes on, so that the program loses no more than the budget allows. */
void session_pace(struct session *s);
/* Looks for what the functions call that matter; session.learning is begun where stacks tell more.
 */
int session_refine(struct session *s, const struct live_options *o, struct error *err);
/* Watches what was found. How many functions are new, or not watched any more. */
int session_refined(struct session *s, struct error *err);
/* How it goes, for people. */
void session_tell(struct session *s, bool is_round_over);
/* Whether the command is over, and with it what there is to see. */
bool session_command_has_ended(struct session *s);
/* Asks it to end, where it goes on. */
void session_end_command(struct session *s);
int session_finish(struct session *s, struct error *err);
int session_report(struct session *s, struct error *err);
void session_done(struct session *s);

/* A static probe that tells the interval: patched where that can be, else by eBPF. */
int session_static(struct session *s, const struct interval_spec *spec, enum interval_role role,
		   struct error *err);

/* What is taken of a function when it is left is an amount of work. False: something else is. */
bool session_work(struct session *s, uint32_t number, const struct interval_spec *spec);
/* The amounts of an interval, for each of its parts; place: where they are in session.parts. */
void session_take_works(struct session *s, const struct interval *v, const uint32_t *place);
/* Looks whether arguments and results of the functions that matter are such amounts. */
int session_try_works(struct session *s, struct error *err);
/* Watches a function by uprobes that could not be patched. Whether it could. */
bool session_uprobe(struct session *s, uint32_t number);
/* Takes what they saw; leaves those alone that cost too much. */
int session_uprobes_read(struct session *s, const struct probe_reader *r, int64_t *until,
			 struct error *err);

/* Whether this round can tell something. */
bool session_has_seen_enough(const struct session *s);
/* For the parts of a session: another set of functions is watched from now on. */
void session_new_round(struct session *s);
/* These are not watched any more. */
int session_unwatch(struct session *s, const uint32_t *numbers, size_t nr, struct error *err);
/* Patches what is in the list and not yet watched. How many there are of them now. */
int session_watch(struct session *s, struct error *err);
/* One that ended, from infer/intervals. */
int session_interval(void *to, const struct interval *v, struct error *err);

#endif
