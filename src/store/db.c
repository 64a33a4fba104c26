#include "store/db.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/mem.h"
#include "store/looks.h"
#include "store/pack.h"

/*
 * SQLite gives what is tedious to get right (pages, free space, big blobs, a cache); the content is
 * ours, checksummed blob by blob, since SQLite has no checksums. While a run is
 * written there is no journal and no sync: the file stands beside its place, and whoever dies
 * leaves it unfinished (user_version 0), never half.
 */

#define LEVEL 3           /* of zstd: takes no longer than 1 here, and a quarter less room */
#define DENSE_LEVEL (-20) /* notices in no time that nothing is to be gained */
#define APPLICATION_ID 0x43756c70 /* "Culp" */
#define HEAD_BYTES 100            /* of every SQLite file */
#define PAGE_BYTES 8192           /* as a run is written */
#define REST_LEAST 1003           /* bytes of a blob, of pages of that size */
#define BLOB_EXTRA 40             /* checksum, lengths */
#define BATCH_BYTES ((size_t)16 << 20)

struct db {
	sqlite3 *sql;
	struct db_far far; /* instead, where the blobs are not in a file */
	char *name;        /* as the user calls it */
	struct pack *pack;
	sqlite3_stmt *put[DB_TABLES], *get[DB_TABLES];
	struct buf packed;
	size_t batch; /* bytes since the last commit */
	bool (*is_over)(void *to);
	void *over_to;
};

static const char *const table_names[DB_TABLES] = { "catalog", "events",  "requests", "bodies",
						    "ids",     "objects", "briefs",   "levels" };

static uint64_t place_of(enum db_table table, uint64_t number)
{
	return (uint64_t)(table + 1) << 56 ^ number;
}

int db_damaged(const struct db *db, const char *what, struct error *err)
{
	return error_set(err, EBADMSG, "'%s' is damaged (%s): make it again from its inputs",
			 db->name, what);
}

static int failed(const struct db *db, struct error *err)
{
	int code = sqlite3_errcode(db->sql), sys = sqlite3_system_errno(db->sql);

	if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
		return db_damaged(db, "its pages do not fit together", err);
	if (code == SQLITE_FULL)
		return error_set(err, ENOSPC, "cannot write '%s': no space left on its disk",
				 db->name);
	if (code == SQLITE_TOOBIG)
		return error_set(err, EFBIG, "cannot write '%s': one request or event is too large",
				 db->name);
	if (code == SQLITE_IOERR && sys)
		return error_set(err, sys, "cannot use '%s': %s", db->name, strerror(sys));
	return error_set(err, EIO, "cannot use '%s': %s", db->name, sqlite3_errmsg(db->sql));
}

static int run(struct db *db, const char *sql, struct error *err)
{
	return sqlite3_exec(db->sql, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : failed(db, err);
}

static int prepare(struct db *db, sqlite3_stmt **st, const char *sql, struct error *err)
{
	return sqlite3_prepare_v3(db->sql, sql, -1, SQLITE_PREPARE_PERSISTENT, st, NULL) ==
			       SQLITE_OK
		       ? 0
		       : failed(db, err);
}

/* A table that came later than others: in older runs it is not missing but empty. */
static bool is_absent(struct db *db, enum db_table table)
{
	return table >= DB_OBJECTS &&
	       sqlite3_table_column_metadata(db->sql, NULL, table_names[table], NULL, NULL, NULL,
					     NULL, NULL, NULL) != SQLITE_OK;
}

static int prepare_tables(struct db *db, bool writing, struct error *err)
{
	char sql[160];
	int r = 0;

	for (int i = 0; i < DB_TABLES && !r; i++) {
		if (is_absent(db, (enum db_table)i))
			continue;
		snprintf(sql, sizeof(sql),
			 "SELECT number, data FROM %s WHERE number <= ? ORDER BY number DESC LIMIT "
			 "1",
			 table_names[i]);
		r = prepare(db, &db->get[i], sql, err);
		snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES (?, ?)", table_names[i]);
		if (!r && writing)
			r = prepare(db, &db->put[i], sql, err);
	}
	return r;
}

static int make_tables(struct db *db, struct error *err)
{
	char sql[160];
	int r;

	snprintf(sql, sizeof(sql), "PRAGMA application_id = %d; BEGIN", APPLICATION_ID);
	r = run(db, sql, err);
	for (int i = 0; i < DB_TABLES && !r; i++) {
		snprintf(sql, sizeof(sql),
			 "CREATE TABLE %s (number INTEGER PRIMARY KEY, data BLOB NOT NULL)",
			 table_names[i]);
		r = run(db, sql, err);
	}
	return r ? r : run(db, "COMMIT; BEGIN", err);
}

static struct db *db_new(const char *name)
{
	struct db *db = mem_zalloc(sizeof(*db));
	size_t n = strlen(name) + 1;

	db->name = memcpy(mem_alloc(n), name, n);
	db->pack = pack_new();
	return db;
}

/* To be written, with the tables that it has or without any. */
static int open_to_write(struct db **db, const char *path, const char *name, bool has_tables,
			 struct error *err)
{
	struct db *made = db_new(name);
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
	int r;

	if (sqlite3_open_v2(path ? path : "", &made->sql, flags, NULL) != SQLITE_OK) {
		r = failed(made, err);
		goto out;
	}
	r = run(made,
		"PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
		"PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -16384",
		err);
	if (!r)
		r = has_tables ? run(made, "BEGIN", err) : make_tables(made, err);
	if (!r)
		r = prepare_tables(made, true, err);
	if (!r)
		*db = made;
out:
	if (r)
		db_close(made);
	return r;
}

int db_create(struct db **db, const char *path, const char *name, struct error *err)
{
	return open_to_write(db, path, name, false, err);
}

int db_go_on(struct db **db, const char *path, const char *name, struct error *err)
{
	return open_to_write(db, path, name, true, err);
}

int db_flush(struct db *db, struct error *err)
{
	db->batch = 0;
	return run(db, "COMMIT; BEGIN", err);
}

/* --- opening: most of what can be wrong is told from the first hundred bytes ----------------- */

static uint32_t big_endian(struct str head, size_t at)
{
	const unsigned char *p = (const unsigned char *)head.p + at;

	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

bool db_is_head(struct str head)
{
	return head.n >= HEAD_BYTES && str_starts(head, STR("SQLite format 3\0")) &&
	       big_endian(head, 68) == APPLICATION_ID;
}

static int check_head(const char *path, struct str head, uint64_t bytes, struct error *err)
{
	uint64_t page, version;

	if (!db_is_head(head))
		return error_set(err, EBADMSG, "'%s' is not a run file (it looks like %s)", path,
				 looks_like(head));
	version = big_endian(head, 60);
	if (!version)
		return error_set(err, EBADMSG,
				 "'%s' is unfinished: what wrote it was stopped; make it again",
				 path);
	if (version > DB_VERSION)
		return error_set(err, ENOTSUP,
				 "'%s' was made by a newer culprit: upgrade this one to read it",
				 path);
	if (version < DB_OLDEST)
		return error_set(err, ENOTSUP,
				 "'%s' was made by an older culprit: make it again from its inputs",
				 path);
	page = big_endian(head, 16) >> 16;
	if (page * big_endian(head, 28) > bytes)
		return error_set(err, EBADMSG,
				 "'%s' is damaged (cut short): make it again from its inputs",
				 path);
	return 0;
}

/* A pipe is not even opened: whoever writes into it would take us for its reader, and be cut off.
 */
static int check_kind(const char *path, struct stat *st, struct error *err)
{
	if (stat(path, st) < 0)
		return error_set(err, errno, "cannot open '%s': %s", path, strerror(errno));
	if (S_ISDIR(st->st_mode))
		return error_set(err, EISDIR, "'%s' is a directory, not a run file", path);
	if (!S_ISREG(st->st_mode))
		return error_set(err, EBADMSG, "'%s' is not a regular file, so not a run file",
				 path);
	return 0;
}

static int check_file(const char *path, struct error *err)
{
	char head[4096];
	struct stat st;
	int r = check_kind(path, &st, err);
	cleanup(close_fd) int fd = r < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	if (r < 0)
		return r;
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(err, errno, "cannot open '%s': %s", path, strerror(errno));
	n = read(fd, head, sizeof(head));
	if (n < 0)
		return error_set(err, errno, "cannot read '%s': %s", path, strerror(errno));
	return check_head(path, (struct str){ head, (size_t)n }, (uint64_t)st.st_size, err);
}

/* "file:…?immutable=1": no lock and no journal is looked for, so read-only media work. */
static void put_uri(struct buf *uri, const char *path)
{
	buf_add(uri, STR("file:"));
	for (; *path; path++) {
		if (strchr("%?#", *path))
			buf_fmt(uri, "%%%02x", (unsigned char)*path);
		else
			buf_char(uri, *path);
	}
	buf_add(uri, STR("?immutable=1"));
	buf_char(uri, 0);
}

int db_open(struct db **db, const char *path, struct error *err)
{
	struct buf uri = { 0 };
	struct db *made;
	int r = check_file(path, err);

	if (r)
		return r;
	made = db_new(path);
	put_uri(&uri, path);
	if (sqlite3_open_v2(uri.p, &made->sql,
			    SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		r = failed(made, err);
	if (!r)
		r = run(made,
			"PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;"
			"PRAGMA cache_size = -8192",
			err);
	if (!r && prepare_tables(made, false, err))
		r = db_damaged(made, "a table is missing", err);
	buf_done(&uri);
	if (r)
		db_close(made);
	else
		*db = made;
	return r;
}

void db_close(struct db *db)
{
	if (!db)
		return;
	for (int i = 0; i < DB_TABLES; i++) {
		sqlite3_finalize(db->put[i]);
		sqlite3_finalize(db->get[i]);
	}
	sqlite3_close(db->sql);
	if (db->far.close)
		db->far.close(db->far.to);
	pack_free(db->pack);
	buf_done(&db->packed);
	free(db->name);
	free(db);
}

int db_finish(struct db *db, struct error *err)
{
	char sql[80];

	snprintf(sql, sizeof(sql), "PRAGMA user_version = %d; COMMIT; PRAGMA query_only = ON",
		 DB_VERSION);
	return run(db, sql, err);
}

/* --- blobs ----------------------------------------------------------------------------------- */

static int end_batch(struct db *db, struct error *err)
{
	if (db->batch < BATCH_BYTES)
		return 0;
	db->batch = 0;
	return run(db, "COMMIT; BEGIN", err);
}

static int put(struct db *db, enum db_table table, uint64_t number, struct str raw, int level,
	       struct error *err)
{
	sqlite3_stmt *st = db->put[table];
	int code;

	buf_clear(&db->packed);
	pack_close(db->pack, level, place_of(table, number), raw, &db->packed);
	sqlite3_bind_int64(st, 1, (sqlite3_int64)number);
	sqlite3_bind_blob64(st, 2, db->packed.p, db->packed.n, SQLITE_STATIC);
	code = sqlite3_step(st);
	sqlite3_reset(st);
	if (code != SQLITE_DONE)
		return failed(db, err);
	db->batch += db->packed.n;
	return end_batch(db, err);
}

int db_put(struct db *db, enum db_table table, uint64_t number, struct str raw, struct error *err)
{
	return put(db, table, number, raw, LEVEL, err);
}

int db_put_dense(struct db *db, enum db_table table, uint64_t number, struct str raw,
		 struct error *err)
{
	return put(db, table, number, raw, DENSE_LEVEL, err);
}

/* Of a long blob SQLite keeps a rest among the rows, and the others in pages of their own: rests of
 * half a page or more leave much of the pages of rows empty. */
bool db_fits(size_t bytes)
{
	size_t rest = bytes + BLOB_EXTRA <= REST_LEAST
			      ? bytes + BLOB_EXTRA
			      : REST_LEAST + (bytes + BLOB_EXTRA - REST_LEAST) % (PAGE_BYTES - 4);

	return rest <= PAGE_BYTES / 4;
}

/* Leaves the statement at its row: what is given lives until that is reset. */
static int get_near(struct db *db, enum db_table table, uint64_t at, uint64_t *number,
		    struct str *packed, struct error *err)
{
	sqlite3_stmt *st = db->get[table];
	int code;

	if (!st)
		return 0;
	sqlite3_reset(st);
	sqlite3_bind_int64(st, 1, (sqlite3_int64)at);
	code = sqlite3_step(st);
	if (code == SQLITE_DONE)
		return 0;
	if (code != SQLITE_ROW)
		return failed(db, err);
	*number = (uint64_t)sqlite3_column_int64(st, 0);
	*packed = (struct str){ sqlite3_column_blob(st, 1), (size_t)sqlite3_column_bytes(st, 1) };
	return 1;
}

static int get_packed(struct db *db, enum db_table table, uint64_t at, uint64_t *number,
		      struct str *packed, struct error *err)
{
	if (at > INT64_MAX)
		at = INT64_MAX;
	if (db->far.get)
		return db->far.get(db->far.to, table, at, number, packed, err);
	return get_near(db, table, at, number, packed, err);
}

int db_get(struct db *db, enum db_table table, uint64_t at, uint64_t *number, struct buf *raw,
	   struct error *err)
{
	struct str packed = { 0 };
	uint64_t found = 0;
	int r;

	if (db->is_over && db->is_over(db->over_to))
		return error_set(err, ECANCELED, "nobody waits for the answer any more");
	r = get_packed(db, table, at, &found, &packed, err);
	if (r > 0 && !pack_open(db->pack, place_of(table, found), packed, raw))
		r = db_damaged(db, "a checksum differs", err);
	sqlite3_reset(db->get[table]);
	if (r > 0)
		*number = found;
	return r;
}

int db_each_packed(struct db *db, enum db_table table,
		   int (*each)(void *ctx, uint64_t number, struct str packed), void *ctx,
		   struct error *err)
{
	uint64_t at = INT64_MAX, number = 0;
	struct str packed = { 0 };
	int r;

	while ((r = get_packed(db, table, at, &number, &packed, err)) > 0) {
		r = each(ctx, number, packed);
		if (r || !number || number > at)
			break;
		at = number - 1;
	}
	sqlite3_reset(db->get[table]);
	return r;
}

struct db *db_of_far(const struct db_far *far, const char *name)
{
	struct db *db = db_new(name);

	db->far = *far;
	return db;
}

void db_watch(struct db *db, bool (*is_over)(void *to), void *to)
{
	db->is_over = is_over;
	db->over_to = to;
}

uint64_t db_stamp(const struct db *db)
{
	return db->far.stamp;
}
