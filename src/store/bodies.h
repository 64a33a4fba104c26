/*
 * The bodies of requests, in order of ordinal (as they were added). A body is written once and read
 * by its ordinal, or all are walked.
 */
#ifndef CULPRIT_STORE_BODIES_H
#define CULPRIT_STORE_BODIES_H

#include "store/store.h"

struct lead;

/* --- writing: zero is ready ------------------------------------------------------------------ */

struct bodies_made {
	struct buf records; /* of the front, or of the piece that is being filled */
	struct buf pieces;  /* those of the row that is being filled */
	uint64_t nr_records;
	uint64_t first, next; /* the ordinal of the first request of the row, of the next piece */
	struct lead *lead;    /* once the front is written */
};

void bodies_made_done(struct bodies_made *m);
int bodies_add(struct store *s, struct str record, struct error *err);
/* All that was added is written; nothing is added from then on. */
int bodies_flush(struct store *s, struct error *err);
/* The ids of requests by ordinal, once they are known. */
int bodies_put_ids(struct store *s, const uint32_t *ids, struct error *err);

/* --- reading --------------------------------------------------------------------------------- */

/* Zero is a cursor in front of the first. */
struct bodies {
	struct buf raw, piece;
	struct str left;    /* records, of the piece or of all */
	struct str pieces;  /* those behind it in the row */
	uint64_t next;      /* the ordinal that comes next */
	uint64_t piece_end; /* the ordinal behind the piece; 0 where that is not told */
	struct buf raw_ids;
	struct str ids;
	uint64_t ids_next; /* the ordinal of the first of them */
};

void bodies_done(struct bodies *c);
/* 1 and the whole record (code_take_request, then body_take), or 0 at the end. */
int bodies_next(struct store *s, struct bodies *c, uint64_t *id, struct str *record,
		struct error *err);
/* The record of that ordinal. Those behind the last that was read are found faster. */
int bodies_at(struct store *s, struct bodies *c, uint64_t ordinal, struct str *record,
	      struct error *err);

#endif
