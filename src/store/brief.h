/*
 * Requests in brief: what charts and selections need of each, in columns and in order of id (that
 * is, of start), so that a million of them are looked at in some hundredths of a second. Runs of
 * former days have none: there the rows are read instead.
 */
#ifndef CULPRIT_STORE_BRIEF_H
#define CULPRIT_STORE_BRIEF_H

#include "store/nodesets.h"
#include "store/rows.h"
#include "store/store.h"

struct wanted;

#define BRIEF_ROWS 16384 /* of a block */

enum brief_column {
	BRIEF_START,
	BRIEF_DURATION,
	BRIEF_TYPE,
	BRIEF_TAG,
	BRIEF_SURE,
	BRIEF_SET,
	BRIEF_ORDINAL,
	BRIEF_SPANS,
	BRIEF_COLUMNS
};

/* One request: what others may see, and where it stands. */
struct brief_row {
	struct brief b;
	uint64_t ordinal, set;
	uint32_t nr_spans;
};

/* --- writing: zero is ready ------------------------------------------------------------------ */

struct briefs_made {
	VEC(int64_t) columns[BRIEF_COLUMNS];
	struct buf block;
	uint64_t first, nr; /* of the block that is being filled */
	struct brief_row last;
};

void briefs_made_done(struct briefs_made *m);
/* In order of id, from 1. */
int briefs_add(struct store *s, struct briefs_made *m, const struct brief_row *row,
	       struct error *err);
/* place[type] is where the type stands among those of the catalog. */
int briefs_finish(struct store *s, struct briefs_made *m, const uint32_t *place, size_t nr_types,
		  struct error *err);

/* --- reading --------------------------------------------------------------------------------- */

/* What the numbers in briefs mean; read once for an open run. */
struct brief_names {
	bool is_read, is_there;
	struct nodesets sets;
	VEC(uint32_t) place; /* by type: where it stands in the catalog */
	struct names types;  /* of runs without briefs: from 1 as the catalog lists them */
};
void brief_names_done(struct brief_names *n);

/* Zero is a cursor that stands in front of the first. */
struct briefs {
	struct buf raw;
	struct brief_numbers {
		const char *p;
		int64_t least; /* what is added to each */
		unsigned bytes;
		uint64_t mask;
	} columns[BRIEF_COLUMNS];
	uint64_t at;         /* in the block */
	uint64_t next, left; /* the id that comes next, how many are left in the block */
	int64_t start;
	uint64_t ordinal;
	struct rows rows; /* instead, where there are no briefs */
};

void briefs_done(struct briefs *c);
/* 1, or 0 at the end. Types are places in the catalog. */
int briefs_next(struct store *s, struct briefs *c, struct brief_row *row, struct error *err);
/* The same of those that the filter lets through and that are selected; the cursor was put there by
 * briefs_begin. */
int briefs_next_wanted(struct store *s, struct briefs *c, const struct wanted *w,
		       struct brief_row *row, struct error *err);
/* The request with that id, which is not below the last that was read: 1. */
int briefs_at(struct store *s, struct briefs *c, uint64_t id, struct brief_row *row,
	      struct error *err);
/* Puts the cursor in front of the first request that starts then or later, or not far before it. */
int briefs_seek(struct store *s, struct briefs *c, int64_t from_ns, struct error *err);
/* The same for what is selected and starts then or later (INT64_MIN: any): whoever walks on from
 * there stops behind the last that is selected. */
int briefs_begin(struct store *s, struct briefs *c, int64_t from_ns, struct error *err);
/* Reads them if that was not done yet: 1 when the run has any, 0 when not. */
int brief_names_read(struct store *s, struct error *err);

#endif
