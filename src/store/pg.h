/* A conversation with a PostgreSQL server, whose complaints become sentences. */
#ifndef CULPRIT_STORE_PG_H
#define CULPRIT_STORE_PG_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct pg_address;
struct error;

struct pg {
	PGconn *conn;
	const struct pg_address *address; /* borrowed */
	char *schema;                     /* quoted, for SQL */
	bool is_writing;
	struct buf sql;
};

int pg_open(struct pg *pg, const struct pg_address *address, struct error *err);
/* A transaction that was not ended is undone by the server. */
void pg_close(struct pg *pg);

/* In all SQL '@' stands for the schema. Values ($1 …) are texts, results are binary. */
int pg_run(struct pg *pg, const char *sql, struct error *err);
int pg_ask(struct pg *pg, const char *sql, const char *const *values, int nr, PGresult **result,
	   struct error *err);
/* The same for a statement with values and without an answer. */
int pg_tell(struct pg *pg, const char *sql, const char *const *values, int nr, struct error *err);

/* A field of an answer as a whole number or as bytes; 0 or nothing where it is null or no such. */
int64_t pg_int(const PGresult *result, int row, int column);
struct str pg_bytes(const PGresult *result, int row, int column);

/* COPY … FROM STDIN, then rows (store/tuple.h), then the end. */
int pg_copy_begin(struct pg *pg, const char *sql, struct error *err);
int pg_copy_rows(struct pg *pg, struct str rows, struct error *err);
int pg_copy_end(struct pg *pg, struct error *err);

#endif
