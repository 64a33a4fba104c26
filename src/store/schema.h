/* The tables of runs in PostgreSQL: made once, and refused when they are not ours or newer. */
#ifndef CULPRIT_STORE_SCHEMA_H
#define CULPRIT_STORE_SCHEMA_H

struct error;
struct pg;

/* Within a transaction: the tables are there afterwards, and this user may write to them. */
int schema_make(struct pg *pg, struct error *err);
/* Within a transaction: the tables are there and can be read. */
int schema_check(struct pg *pg, struct error *err);

#endif
