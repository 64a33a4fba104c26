/* A cursor over the table of requests, in order of id. */
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

#endif
