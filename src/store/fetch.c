#include "store/fetch.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "store/db.h"
#include "store/pg.h"
#include "store/pg_address.h"
#include "store/schema.h"

/*
 * A run is read in one transaction that sees the database as it was at its beginning, so that a run
 * that is replaced or deleted meanwhile is still read to its end.
 *
 * Each table has a window, the rows that came with the last answer. Whoever walks a table asks for
 * the row after the window, and each time that happens the next window is twice as long: a walk
 * costs few answers however far the server is, a single look brings one row.
 */

#define WINDOW_ROWS 512
#define WINDOW_BYTES ((size_t)8 << 20)
#define NAMES_SHOWN 5

struct window {
	PGresult *rows; /* number, data: in order of number */
	int limit;      /* how many were asked for: fewer came only at the end of the table */
};

struct fetch {
	struct pg_address address;
	struct pg pg;
	uint64_t number;
	char run[24]; /* the same as a value in SQL */
	struct window windows[DB_TABLES];
};

static void fetch_close(void *to)
{
	struct fetch *f = to;

	for (int i = 0; i < DB_TABLES; i++)
		PQclear(f->windows[i].rows);
	pg_close(&f->pg);
	pg_address_done(&f->address);
	free(f);
}

/* --- windows --------------------------------------------------------------------------------- */

/* The row that answers, or -1 when another window is needed. */
static int row_of(const struct window *w, uint64_t at)
{
	int nr = w->rows ? PQntuples(w->rows) : 0, low = 0, high = nr;

	while (low < high) {
		int middle = low + (high - low) / 2;

		if ((uint64_t)pg_int(w->rows, middle, 0) <= at)
			low = middle + 1;
		else
			high = middle;
	}
	/* what follows the last row of a full window is not known */
	if (!low || (low == nr && nr == w->limit && (uint64_t)pg_int(w->rows, nr - 1, 0) != at))
		return -1;
	return low - 1;
}

static int next_limit(const struct window *w, uint64_t at)
{
	int nr = w->rows ? PQntuples(w->rows) : 0;
	size_t bytes = 1;

	if (!nr || at <= (uint64_t)pg_int(w->rows, nr - 1, 0))
		return 1;
	for (int i = 0; i < nr; i++)
		bytes += pg_bytes(w->rows, i, 1).n;
	if (bytes / (size_t)nr * 2 * (size_t)nr > WINDOW_BYTES)
		return nr > 1 ? nr / 2 : 1;
	return w->limit * 2 < WINDOW_ROWS ? w->limit * 2 : WINDOW_ROWS;
}

static int load_window(struct fetch *f, enum db_table table, uint64_t at, struct error *err)
{
	static const char sql[] =
		"SELECT number, data FROM @.blocks WHERE run = $1::bigint AND part = $2::smallint"
		" AND number >= (SELECT max(number) FROM @.blocks WHERE run = $1::bigint"
		" AND part = $2::smallint AND number <= $3::bigint)"
		" ORDER BY number LIMIT $4::integer";
	struct window *w = &f->windows[table];
	char part[12], number[24], limit[12];
	const char *values[] = { f->run, part, number, limit };
	PGresult *got;
	int nr = next_limit(w, at), r;

	snprintf(part, sizeof(part), "%d", (int)table);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)at);
	snprintf(limit, sizeof(limit), "%d", nr);
	r = pg_ask(&f->pg, sql, values, 4, &got, err);
	if (r)
		return r;
	PQclear(w->rows);
	*w = (struct window){ got, nr };
	return 0;
}

static int fetch_get(void *to, enum db_table table, uint64_t at, uint64_t *number,
		     struct str *packed, struct error *err)
{
	struct fetch *f = to;
	struct window *w = &f->windows[table];
	int row = row_of(w, at), r = 0;

	if (row < 0) {
		r = load_window(f, table, at, err);
		row = 0;
	}
	if (r || !PQntuples(w->rows))
		return r;
	*number = (uint64_t)pg_int(w->rows, row, 0);
	*packed = pg_bytes(w->rows, row, 1);
	return 1;
}

/* --- which run ------------------------------------------------------------------------------- */

static int no_such_run(struct fetch *f, struct error *err)
{
	static const char sql[] = "SELECT name, count(*) OVER () FROM @.runs ORDER BY stored DESC,"
				  " run DESC LIMIT 5";
	struct buf names = { 0 };
	PGresult *got;
	int r = pg_ask(&f->pg, sql, NULL, 0, &got, err);

	if (r)
		return r;
	for (int i = 0; i < PQntuples(got); i++)
		buf_fmt(&names, "%s'" STR_FMT "'", i ? ", " : "",
			STR_ARG(str_head(pg_bytes(got, i, 0), 60)));
	if (pg_int(got, 0, 1) > NAMES_SHOWN)
		buf_fmt(&names, " and %lld more", (long long)pg_int(got, 0, 1) - NAMES_SHOWN);
	if (!names.n)
		r = error_set(err, ENOENT,
			      "there are no runs at '%s': culprit analyze LOGS --store stores one",
			      f->address.shown);
	else
		r = error_set(err, ENOENT, "there is no run '%s' at '%s'; there is: " STR_FMT,
			      f->address.run ? f->address.run : "", f->address.shown,
			      STR_ARG(buf_str(&names)));
	PQclear(got);
	buf_done(&names);
	return r;
}

static int find_run(struct fetch *f, struct error *err)
{
	static const char sql[] = "SELECT run, format FROM @.runs WHERE $1::text IS NULL OR name ="
				  " $1::text ORDER BY stored DESC, run DESC LIMIT 1";
	const char *values[] = { f->address.run };
	PGresult *got;
	int64_t format;
	int r = pg_ask(&f->pg, sql, values, 1, &got, err);

	if (r)
		return r;
	f->number = (uint64_t)pg_int(got, 0, 0);
	snprintf(f->run, sizeof(f->run), "%llu", (unsigned long long)f->number);
	format = pg_int(got, 0, 1);
	r = PQntuples(got);
	PQclear(got);
	if (!r)
		return no_such_run(f, err);
	if (format > DB_VERSION)
		return error_set(err, ENOTSUP,
				 "the run at '%s' was made by a newer culprit: upgrade this one to "
				 "read it",
				 f->address.shown);
	if (format < DB_OLDEST)
		return error_set(err, ENOTSUP,
				 "the run at '%s' was made by an older culprit: make it again from "
				 "its inputs",
				 f->address.shown);
	return 0;
}

/* A question may think for long between two blocks. */
static int begin(struct fetch *f, struct error *err)
{
	int r = pg_run(&f->pg,
		       "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;"
		       "SET LOCAL search_path = pg_catalog; SET LOCAL statement_timeout = 0;"
		       "SET LOCAL idle_in_transaction_session_timeout = 0",
		       err);

	if (!r)
		r = schema_check(&f->pg, err);
	return r ? r : find_run(f, err);
}

int fetch_open(struct db **db, const char *where, struct error *err)
{
	struct fetch *f = mem_zalloc(sizeof(*f));
	int r = pg_address_parse(&f->address, where, NULL, err);

	if (!r)
		r = pg_open(&f->pg, &f->address, err);
	if (!r)
		r = begin(f, err);
	if (r)
		fetch_close(f);
	else
		*db = db_of_far(&(struct db_far){ f, fetch_get, fetch_close, f->number },
				f->address.shown);
	return r;
}
