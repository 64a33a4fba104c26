/* All log lines of a run, which leave memory when they become many and come back in windows of
 * time. */
#ifndef CULPRIT_INFER_REQUESTS_HARVEST_H
#define CULPRIT_INFER_REQUESTS_HARVEST_H

#include <pthread.h>

#include "base/map.h"
#include "infer/requests/gather.h"
#include "store/scratch.h"

struct error;

/* So many lines, about, are looked at together. */
#define HARVEST_WINDOW 500000

/* Lines of one log, out of memory. */
struct harvest_block {
	struct chunk chunk;
	sym_t log;
	int64_t reached; /* by the lines in front of it, ns */
};

/* What is known of a log. */
struct harvest_log {
	sym_t node;      /* who wrote it */
	int64_t reached; /* the latest time so far, ns */
	int64_t put;     /* the same, of what is out of memory */
	int64_t shift;   /* what is added to its times ... */
	uint64_t things; /* ... because of so many things that it names */
	size_t rank;     /* among the logs, from 1; 0: not told yet */
	bool is_set;     /* by windows that are over: its shift stays */
	VEC(uint32_t) blocks;
};

/* Zero is a valid, empty one. */
struct harvest {
	size_t window;       /* lines to look at together; 0: HARVEST_WINDOW */
	struct gather block; /* what was gathered last; all of it while nothing is out */
	struct names logs, nodes;
	VEC(struct harvest_log) of_log;
	VEC(sym_t) log_of; /* of each file */
	VEC(sym_t) order;  /* logs in that of their files */
	VEC(struct harvest_block) blocks;
	struct scratch scratch;
	bool is_out;                              /* lines have left memory */
	uint64_t nr_lines, nr_keyed, nr_requests; /* of all: by a mere request id */
	bool doubts_requests;                     /* these are other numbers */
	struct map slots;                         /* log and second: lines */
	uint64_t slot, nr_slot;                   /* the one at hand */
	VEC(int64_t) bounds;                      /* where windows end, ns */
	size_t nr_over;                           /* of them: those that stay as they are */
	uint64_t nr_over_lines;                   /* that were there when they were told */
	pthread_mutex_t reading;
};

void harvest_done(struct harvest *h);
/* The log that the file belongs to, from which the next events come. */
void harvest_file(struct harvest *h, uint32_t file, struct str log);
/* Files are told anew from here on, also those that lines came from before: what is found does not
 * depend on when their lines came. */
void harvest_files(struct harvest *h);
void harvest_file_again(struct harvest *h, struct str log);
int harvest_events(struct harvest *h, const struct event *ev, size_t nr, struct error *err);
/* When all is there: clocks are set right, windows are told. */
int harvest_end(struct harvest *h, struct error *err);
/* While more is to come: the windows that stay as they are whatever comes, which is all but the
 * last one of those told. 1: there are more of them than before. */
int harvest_settle(struct harvest *h, struct error *err);
/* Lines that name their request. */
uint64_t harvest_nr_keyed(const struct harvest *h);

/* Who takes lines out, in the order of time. */
struct harvest_cursor {
	int64_t from;          /* earlier lines are passed over, ns */
	VEC(size_t) nr_read;   /* of each log: blocks */
	struct gather ahead;   /* lines that were read with others and are not due yet ... */
	VEC(int64_t) ahead_at; /* ... and when they are, ns */
};
void harvest_cursor(struct harvest *h, struct harvest_cursor *c, int64_t from);
void harvest_cursor_done(struct harvest_cursor *c);
/* Adds all lines before that time to *g that were not taken yet. Several may do so at once, each
 * with its own cursor. */
int harvest_upto(struct harvest *h, struct harvest_cursor *c, struct gather *g, int64_t until,
		 struct error *err);

/* Where a log is in time after this line: not before the lines in front, unless its clock was set
 * back. */
int64_t harvest_reach(int64_t reached, const struct seen_line *l);
int64_t harvest_shifted(int64_t ns, int64_t shift);
/* Reads one back; its bytes as gather_pack made them, or the lines. */
int harvest_bytes(struct harvest *h, uint32_t nr, struct buf *bytes, struct error *err);
int harvest_get(struct harvest *h, uint32_t nr, struct gather *g, struct error *err);

/* One that somebody else harvested: windows and logs are told, then the blocks of each log in their
 * order. */
void harvest_open(struct harvest *h);
int harvest_put(struct harvest *h, sym_t log, int64_t reached, struct str packed,
		struct error *err);

#endif
