/* Where an observer delivers what it saw; it does not know who takes it. */
#ifndef CULPRIT_MODEL_SINK_H
#define CULPRIT_MODEL_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "model/loss.h"

struct error;
struct event;
struct span;

struct file_seen {
	struct str path;   /* to open it again; "-" for standard input */
	struct str name;   /* in answers: below the directory that was given; empty: the path */
	struct str format; /* "log4j", "otlp-json" … */
	struct str layout; /* for logs: the pattern that was found */
	uint64_t bytes;    /* as stored, compressed or not; 0 when unknown */
	int64_t mtime_ns;  /* to notice later that the file has changed … */
	uint64_t mark;     /* … or has only grown: sink_mark of a plain file, 0 for others */
};

/* Of the bytes of a file in front of a place: who finds the same ones there again knows that a
 * larger file has only grown. Never 0, unless they cannot be read. */
uint64_t sink_mark(int fd, uint64_t place);

/*
 * Calls come from one thread at a time, in the order of the input. Strings are borrowed for the
 * call only. Each returns 0 or a negative failure, which the observer hands on.
 */
struct sink {
	void *to;
	int (*file)(void *to, const struct file_seen *file, uint32_t *number, struct error *err);
	int (*events)(void *to, const struct event *events, size_t nr, struct error *err);
	int (*spans)(void *to, const struct span *spans, size_t nr, struct error *err);
	void (*progress)(void *to, uint64_t bytes_of_input); /* since the last call; may be NULL */
	struct losses *losses;
	/* A file of that number goes on, and is as told now; who continues none may leave it NULL.
	 */
	int (*again)(void *to, uint32_t number, const struct file_seen *file, struct error *err);
};

#endif
