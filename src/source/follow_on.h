/* Logs that are read on from where they were left: what stood in a file once is read once, whatever
 * the file is called by then and wherever its content has gone. */
#ifndef CULPRIT_SOURCE_FOLLOW_ON_H
#define CULPRIT_SOURCE_FOLLOW_ON_H

#include "source/follow_set.h"
#include "source/logs.h"

struct error;
struct sink;
struct source_options;

/* How far one content was read. */
struct follow_reading {
	struct logs logs;
	bool is_log;         /* else it is read anew each time */
	bool is_over;        /* all of it: others of its log may follow */
	uint64_t at, lines;  /* bytes after decompression, and lines, that were delivered */
	uint64_t mark;       /* of a plain file, in front of that place */
	uint64_t known_size; /* of a compressed file: holds no more than that */
};

/* NULL when nothing of that content was read. */
struct follow_reading *follow_on_find(const struct follow *f, const struct followed *it);
void follow_on_done(struct follow *f);

/*
 * Reads on in a log, up to where its last event begins, which may still go on, or to the end of a
 * file that another one of its log came after. 1: it may be read on; 0: it cannot yet, or is no
 * log. Files of one log go in their order: one is not begun before those in front of it are over.
 */
int follow_on_keep(struct follow *f, size_t nr, int64_t now, const struct source_options *o,
		   struct sink *sink, struct error *err);
/* All that is left of a content that was read before: 1, or 0 when it was not. */
int follow_on_rest(struct follow *f, size_t nr, struct sink *sink, struct error *err);

#endif
