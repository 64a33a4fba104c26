/* Nests the slices of a Chrome trace: from begins, ends and durations on tracks to spans. */
#ifndef CULPRIT_SOURCE_CHROME_NEST_H
#define CULPRIT_SOURCE_CHROME_NEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/names.h"
#include "base/vec.h"

struct batch;

#define CHROME_NO_SLICE UINT64_MAX

enum chrome_phase {
	CHROME_BEGIN,
	CHROME_END,
	CHROME_WHOLE, /* with its duration */
	CHROME_INSTANT,
	CHROME_FLOW,      /* an arrow starts, passes or ends in the slice around it … */
	CHROME_FLOW_NEXT, /* … or ends in the next slice of its track */
};

/* One event of the trace; strings are in the arena of the nest. */
struct chrome_item {
	enum chrome_phase phase;
	sym_t track;           /* where it nests: a thread, or what an asynchronous id names */
	sym_t process, thread; /* whose names it shows */
	sym_t flow;
	int64_t start, end;    /* end of CHROME_WHOLE; NS_NONE while a slice is open */
	uint64_t nr;           /* its number in the file: its name and its place among equals */
	uint64_t root, parent; /* numbers, once it is placed */
	struct str name, attrs;
};

/* Zero is a valid start. */
struct chrome_nest {
	struct arena arena; /* strings of items; forgotten when they were handed out */
	size_t arena_bytes;
	VEC(struct chrome_item) items;
	struct names names;     /* of tracks, processes, threads, flows: how the file names them */
	VEC(struct str) titles; /* [sym] what its metadata calls a process or thread */
	struct arena kept;      /* titles */
	struct arena carried;   /* strings of slices that were open at the last flush */
	size_t nr_carried;      /* such slices, at the front of items */
	uint32_t file;
	struct str file_name; /* in front of keys, so that two files never share one */
};

void chrome_nest_title(struct chrome_nest *n, sym_t sym, struct str title);
/*
 * Places all items and hands out those that are finished as spans and events of the batch (strings
 * live until the next call); slices still open stay for more, or end with the last thing seen when
 * at_end.
 */
void chrome_nest_flush(struct chrome_nest *n, struct batch *b, bool at_end);
void chrome_nest_done(struct chrome_nest *n);

#endif
