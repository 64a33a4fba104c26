/* Reads a run that stands in PostgreSQL, block by block as it is asked for. */
#ifndef CULPRIT_STORE_FETCH_H
#define CULPRIT_STORE_FETCH_H

struct db;
struct error;

int fetch_open(struct db **db, const char *where, struct error *err);

#endif
