/* Cursors over the two tables of requests: rows in order of id, bodies in order of ordinal. */
#ifndef CULPRIT_STORE_ROWS_H
#define CULPRIT_STORE_ROWS_H

#include "store/store.h"

/* Zero is a cursor that must be moved with rows_seek first. Strings live until the next call. */
struct rows {
	struct buf raw;
	struct str left;
	uint64_t next; /* the id that comes next */
};

void rows_done(struct rows *c);
/* Puts the cursor in front of that id. */
int rows_seek(struct store *s, struct rows *c, uint64_t id, struct error *err);
/* 1, or 0 at the end. */
int rows_next(struct store *s, struct rows *c, struct request *r, uint64_t *ordinal,
	      struct error *err);

struct bodies {
	struct buf raw, raw_ids;
	struct str left, ids;
	uint64_t next; /* the ordinal that comes next */
	bool loaded;
};

void bodies_done(struct bodies *c);
int bodies_seek(struct store *s, struct bodies *c, uint64_t ordinal, struct error *err);
/* 1 and the whole record (code_take_request, then body_take), or 0 at the end. */
int bodies_next(struct store *s, struct bodies *c, uint64_t *id, struct str *record,
		struct error *err);

#endif
