/* The log lines of a run as the rebuilding of requests sees them: when, where, in which thread,
 * from which statement, naming what. */
#ifndef CULPRIT_INFER_REQUESTS_GATHER_H
#define CULPRIT_INFER_REQUESTS_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/names.h"
#include "base/vec.h"
#include "model/level.h"

struct event;
struct losses;

/* A line with the lines that continue it. */
struct seen_line {
	int64_t ns;
	int64_t spent;  /* what it says the work took that ends with it, ns; 0 for nothing */
	uint64_t event; /* its number in the store */
	uint32_t file;  /* the log that it stands in, all its files together */
	sym_t node, thread;
	uint32_t type;    /* from which statement: in types */
	uint32_t name_at; /* in named: own names, then those of thread and file */
	uint16_t nr_own, nr_names;
	uint8_t nr_words; /* behind the names: words that may name something (nouns.h) */
	uint8_t level;
	bool is_undated; /* ns is that of the next line, or of the first one of all */
	bool is_keyed;   /* it carries the name of its request: others see to it */
	bool is_request; /* by a mere request id */
};

/* Zero is a valid, empty one. */
struct gather {
	VEC(struct seen_line) lines; /* as delivered: in the order of each file */
	VEC(uint32_t) named;         /* names, as numbers of things */
	struct names things;         /* kind, separator, value */
	struct names kinds;
	VEC(uint32_t) kind_of; /* of each thing: in kinds */
	struct names nodes, threads;
	struct names types;    /* what a statement writes, variable parts masked */
	VEC(uint32_t) type_of; /* of each statement: its type, where that is all it is called by */
	VEC(uint32_t) statement; /* of each type: number in the matcher, 0 unknown */
	struct names logs;
	VEC(uint32_t) log_of;  /* of each file: in logs */
	VEC(uint32_t) file_at; /* of each log: where its names begin in file_names */
	VEC(uint32_t) file_names;
	VEC(int64_t) shift;         /* of each log: what was added to its times ... */
	VEC(uint64_t) shift_things; /* ... because of so many things that it names */
	uint64_t nr_events;         /* delivered so far */
	uint64_t nr_cut;            /* lines of which names are left out ... */
	uint64_t nr_lacking;        /* ... and words that may be names */
	bool has_before, has_after; /* there are earlier or later lines that are not here */
};

/* Numbers of one gather in another, 1 more than they are; 0: not known yet. Zero is a valid one. */
struct gather_numbers {
	uint32_t *v;
	size_t nr, room;
};
struct gather_map {
	struct gather_numbers things, nodes, threads, types, logs;
};

void gather_done(struct gather *g);
/* The log that the file belongs to, from which the next events come. */
void gather_file(struct gather *g, uint32_t file, struct str log);
/* The number of a log. */
sym_t gather_log(struct gather *g, struct str log);
void gather_events(struct gather *g, const struct event *ev, size_t nr);
/* When all is gathered: request ids are other numbers after all. */
void gather_doubt_keys(struct gather *g);
/* When all is gathered: gives undated lines a time to stand at. */
void gather_date(struct gather *g);

/* Adds a line of another one, with what it names. */
void gather_take(struct gather *to, const struct gather *from, struct gather_map *m,
		 const struct seen_line *line);
void gather_map_done(struct gather_map *m);

/* The number of a thing: kind, separator, value. */
uint32_t gather_thing(struct gather *g, struct str name, uint64_t hash);
/* The value of a thing. */
struct str gather_value(const struct gather *g, uint32_t thing);

#endif
