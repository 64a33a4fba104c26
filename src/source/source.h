/* Reads what people already have: finds out what each file is and delivers what it holds to a sink.
 */
#ifndef CULPRIT_SOURCE_SOURCE_H
#define CULPRIT_SOURCE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct error;
struct input;
struct losses;
struct sink;

struct arena;
struct event;

/* Whoever knows the log statements of the program that wrote the logs. */
struct statements {
	const void *ctx;
	/* Sets statement and values of *ev, which is parsed otherwise. Many threads ask at once. */
	void (*find)(const void *ctx, struct event *ev, struct str message, struct arena *arena);
	bool knows_all; /* a line without a statement is a loss */
	/* May be NULL. What one thread remembers from event to event, and find with it. */
	void *(*remember)(void);
	void (*forget)(void *memory);
	void (*find_again)(const void *ctx, void *memory, struct event *ev, struct str message,
			   struct arena *arena);
};

/* Whoever finds out what lines name. */
struct namers {
	void *ctx;
	void *(*open)(void *ctx); /* one for each thread */
	void (*close)(void *ctx, void *namer);
	/* What comes next is delivered together; what came before is delivered. */
	void (*begin)(void *namer);
	/* Sets the mention of *ev, which is parsed otherwise. */
	void (*name)(void *namer, struct event *ev, struct str message, struct arena *arena,
		     struct losses *losses);
};

struct source_options {
	const char *layout; /* a log4j pattern for all logs, or NULL to find out */
	const char *zone;  /* of times that name none: "+02:00", "UTC", or NULL for the local one */
	unsigned cores;    /* threads for parsing; 0 for all of the machine */
	const char *names; /* file of lines "ADDRESS[:PORT] NAME" for captures, or NULL */
	bool is_bare; /* of logs: layout, time and split only; what the text names or tells is left
			 alone (to measure the one without the other) */
	const struct statements *statements; /* asked about each event of a log; may be NULL */
	const struct namers *namers;         /* likewise */
	struct str kin;  /* of logs: the beginning of a larger file of the same log, which shows
			    the layout better; empty when there is none */
	bool keeps_text; /* text without any time is kept as one event: it was found beside others
			    and not named by the user */
	bool is_blind;   /* of captures: names of requests in messages are not looked at */
};

/* One input format. Adding one is a file, and a line in the table of source.c. */
struct source {
	const char *name;
	const char *summary;
	/* How sure, 0..100, that bytes which begin with head (the whole file when whole) are of
	 * this kind. */
	int (*sniff)(struct str head, bool whole);
	/* Reads to the end. What is broken is counted in sink->losses and passed over; fails only
	 * when nothing can go on. */
	int (*read)(struct input *in, const struct source_options *o, struct sink *sink,
		    struct error *err);
};

extern const struct source *const sources[]; /* ends with NULL */

/* The kind of this input, or NULL when it is of none. */
const struct source *source_find(struct input *in);

/* Whether it would be read as a log. */
bool source_is_log(struct input *in, const struct source_options *o);

struct source_list {
	char **paths;
	size_t *name_at; /* where in the path the name begins that answers show */
	bool *is_found;  /* in a directory that was given, and not given itself */
	size_t nr;
	uint64_t bytes; /* of all that are regular files */
	struct kin *kin;
};

/* Files named by arguments: files, directories (walked, hidden files left out), globs, "-". Files
 * of the one directory that was given are named from there on, all others as they were given.
 * Sorted within a directory, rotated logs the oldest first. */
int source_expand(char *const *args, size_t nr, struct source_list *list, struct error *err);
void source_list_done(struct source_list *list);
/* As source_read, of one in the list: what others of its log show is used for it. */
int source_read_listed(struct source_list *list, size_t nr, const struct source_options *o,
		       struct sink *sink, struct error *err);

/*
 * Reads one file into the sink. 1: read; 0: passed over (it cannot be opened, is empty or of no
 * known kind) and counted, with the reason in *err, which also says why text that was kept is no
 * log; negative: failure.
 */
int source_read(const char *path, const struct source_options *o, struct sink *sink,
		struct error *err);
/* The same of a file that is open already, as input_of_fd has it; the path says what it is called.
 */
int source_read_open(int fd, const char *path, uint64_t upto, const struct source_options *o,
		     struct sink *sink, struct error *err);

#endif
