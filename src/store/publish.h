/* What the files that store a run in PostgreSQL share: one COPY at a time, filled row by row. */
#ifndef CULPRIT_STORE_PUBLISH_H
#define CULPRIT_STORE_PUBLISH_H

#include <stdint.h>

#include "base/buf.h"

struct error;
struct pg;
struct store;

struct publish {
	struct store *store;
	struct pg *pg;
	struct error *err;
	int64_t run;
	struct buf rows; /* not sent yet */
};

int publish_begin(struct publish *p, const char *copy);
/* After each row: sends what has gathered. */
int publish_row(struct publish *p);
int publish_end(struct publish *p);

/* publish_sequences.c */
int publish_sequences(struct publish *p);

#endif
