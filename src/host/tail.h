/* Logs that grow, rotate and are cut, read on from where reading ended: known by what they are and
 * not by their names, no line twice, and what is gone counted. */
#ifndef CULPRIT_HOST_TAIL_H
#define CULPRIT_HOST_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct losses;
struct tail;

struct tail_log {
	const char *name; /* the same for all files of one log, as answers show it */
	const char *path; /* by which the file was found */
	int fd;           /* to look at its beginning; -1 when it is packed */
};

struct tail_options {
	uint64_t backlog_bytes; /* of a log that is met for the first time; what is in front of
				   them is left out and counted */
	int64_t rest_ns;        /* without a new byte after which the last event is whole */
	int64_t close_ns;       /* the same for a file that was rotated away: it is over */
	struct losses *losses;
	void *ctx;
	/* The next bytes: whole lines, but perhaps for the last one when is_over. How many of them
	 * were used, up to the end of a line; the rest comes again, with more behind it. When
	 * is_whole, the last event of them has its end and all must be used. */
	size_t (*take)(void *ctx, const struct tail_log *log, struct str bytes, bool is_whole);
	/* After each of these calls, when places and what was taken agree: a moment to keep both.
	 * Negative ends the poll. */
	int (*pause)(void *ctx);
};

struct tail *tail_new(const struct tail_options *o);
void tail_free(struct tail *t);

/* What is told of each log to go on with it after a restart: as text of one line. Before the first
 * poll; the newest of a file counts. False when it is no such text. */
bool tail_recall(struct tail *t, struct str note);

/* A log that is there now; name as in tail_log. Known ones are recognised. */
void tail_add(struct tail *t, const char *path, const char *name);
/* Whether it is one of them. */
bool tail_has(const struct tail *t, const char *path);
/* Looks at all logs, takes what is new of each. 0, or what pause answered. */
int tail_poll(struct tail *t, int64_t now);
/* Something was taken since the last tail_keep. */
bool tail_has_moved(const struct tail *t);
/* Notes of what has moved since, or of all, each handed on without a line end. */
void tail_notes(const struct tail *t, bool all, void (*note)(void *ctx, struct str note),
		void *ctx);
/* Places are kept: the next start begins there. */
void tail_keep(struct tail *t);
/* They could not be kept: what was taken since comes again. */
void tail_back(struct tail *t);

size_t tail_nr(const struct tail *t);

#endif
