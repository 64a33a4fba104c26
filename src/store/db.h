/* The container under a run file: numbered, checksummed blobs in a few tables. The only
 * module that knows SQLite. */
#ifndef CULPRIT_STORE_DB_H
#define CULPRIT_STORE_DB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct db;
struct error;

enum db_table {
	DB_CATALOG,  /* what there is: files, facts, names … */
	DB_EVENTS,   /* column blocks, by the number of their first event */
	DB_REQUESTS, /* one line per request, by the first id */
	DB_BODIES,   /* spans, edges, events of requests, by the ordinal of the first */
	DB_IDS,      /* the ids of requests, by the ordinal of the first */
	DB_OBJECTS,  /* what logs name: see objects.c; runs of former days have no such table */
	DB_BRIEFS,   /* requests in brief: see brief.h; likewise */
	DB_LEVELS,   /* requests summed up: see levels.h; likewise */
	DB_TABLES
};

#define DB_VERSION 3
#define DB_OLDEST 2 /* that can be read: bodies stand in large blocks there */

/* An existing empty file, or NULL for a temporary one; name is what messages call it. */
int db_create(struct db **db, const char *path, const char *name, struct error *err);
/* A copy of one that was flushed and not finished. */
int db_go_on(struct db **db, const char *path, const char *name, struct error *err);
/* All that was put is in the file. */
int db_flush(struct db *db, struct error *err);
int db_open(struct db **db, const char *path, struct error *err);
void db_close(struct db *db);
/* Whether the first bytes of a file are those of a run file, finished or not. */
bool db_is_head(struct str head);
/* Writes everything out and marks it as whole; nothing can be written afterwards. */
int db_finish(struct db *db, struct error *err);

int db_put(struct db *db, enum db_table table, uint64_t number, struct str raw, struct error *err);
/* The same of bytes that are compressed already. */
int db_put_dense(struct db *db, enum db_table table, uint64_t number, struct str raw,
		 struct error *err);
/* Whether blobs of so many bytes, when they are compressed already, leave little room unused. */
bool db_fits(size_t bytes);
/* The blob with the greatest number that is not above `at`: 1 and its number, 0 when there is
 * none. */
int db_get(struct db *db, enum db_table table, uint64_t at, uint64_t *number, struct buf *raw,
	   struct error *err);
/* Every blob of a table as it is kept (compressed, with its checksum), the last first. A callback
 * that returns non-zero ends it, and that is returned. */
int db_each_packed(struct db *db, enum db_table table,
		   int (*each)(void *ctx, uint64_t number, struct str packed), void *ctx,
		   struct error *err);

/* Blobs that stand elsewhere, as they are kept here. */
struct db_far {
	void *to;
	/* As db_get; what is given is borrowed until the next call. */
	int (*get)(void *to, enum db_table table, uint64_t at, uint64_t *number, struct str *packed,
		   struct error *err);
	void (*close)(void *to);
	uint64_t stamp; /* other blobs under the same name have another one */
};
/* Reads from there, and closes it in the end. */
struct db *db_of_far(const struct db_far *far, const char *name);

/* Asked before each blob is read: true ends it with -ECANCELED. NULL: nobody is asked. */
void db_watch(struct db *db, bool (*is_over)(void *to), void *to);
/* 0 for those of a file. */
uint64_t db_stamp(const struct db *db);

/* For a caller that finds damage in what it decodes. */
int db_damaged(const struct db *db, const char *what, struct error *err);

#endif
