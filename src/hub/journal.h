/* Messages as they arrived, on disk before anybody is told that they are here. */
#ifndef CULPRIT_HUB_JOURNAL_H
#define CULPRIT_HUB_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct error;
struct journal;

struct journal_options {
	const char *dir; /* made when it is not there */
	uint64_t segment_bytes;
	uint64_t max_bytes; /* beyond, the oldest files go */
};

/* What was not written to its end is cut off. One at a time has it open: -EBUSY else. */
int journal_open(struct journal **j, const struct journal_options *o, struct error *err);
void journal_close(struct journal *j);

/* Kinds of records. */
enum { JOURNAL_MESSAGE = 'M', JOURNAL_SUMMARY = 'S' };

/* On disk when it returns 0 and is_synced; after a failure nothing of it is there. */
int journal_append(struct journal *j, char kind, struct str bytes, bool is_synced,
		   struct error *err);
/* Whether a file has just been begun or is to be: then a summary of what older ones hold is
 * wanted in it, as they may go. */
bool journal_wants_summary(const struct journal *j);
/* How many files went, with all they held, since it was opened. */
uint64_t journal_nr_gone(const struct journal *j);

/* Reads from the oldest record on, also while others are appended. Zero is the beginning. */
struct journal_place {
	uint64_t segment, offset;
};
/* 1 and the record in *bytes; 0 no more for now. */
int journal_next(struct journal *j, struct journal_place *at, char *kind, struct buf *bytes,
		 struct error *err);

#endif
