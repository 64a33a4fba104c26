#include "store/pg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "store/pg_address.h"

/*
 * What libpq says is for programs and has several lines, sometimes with parts of the address. Here
 * the first of them is kept where nothing better is known, and never if a password is in it.
 */

#define PIECE_BYTES ((size_t)1 << 20) /* handed to libpq at once */
#define OLDEST 100000                 /* identity columns came with PostgreSQL 10 */

/* --- complaints ------------------------------------------------------------------------------ */

static struct str first_line(const char *text)
{
	struct str s = str_of(text ? text : ""), line;

	if (!str_take_line(&s, &line))
		line = s;
	return str_trim(line);
}

/* A server may repeat what it was told. */
static struct str told(const struct pg *pg, const char *text)
{
	struct str line = first_line(text), password = str_of(PQpass(pg->conn));

	if (password.n && str_find(line, password) < line.n)
		return STR("it gives a reason with the password in it");
	return line.n ? line : STR("it gives no reason");
}

static int lost(const struct pg *pg, struct error *err)
{
	return error_set(err, ECONNRESET, "lost the connection to '%s'%s", pg->address->shown,
			 pg->is_writing ? ": nothing was stored there; try again" : ": try again");
}

/* Codes of PostgreSQL that deserve a sentence of their own; a code of two characters is a class. */
static const struct {
	const char *code;
	int number;
	const char *says;
} known[] = {
	{ "42501", EACCES, "it does not let this user do that: its owner can GRANT it" },
	{ "53100", ENOSPC, "no space left on the disk of the server" },
	{ "53", EBUSY, "the server is out of memory or connections: try again later" },
	{ "25006", EROFS, "it can only be read: give the address of the primary server" },
	{ "57014", EINTR, "the server cancelled it" },
	{ "40", EAGAIN, "others were writing there at the same time: try again" },
	{ "54", EFBIG, "one request or event is too large for it" },
};

static int failed(struct pg *pg, const PGresult *result, struct error *err)
{
	const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	const char *says = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
	const char *what = pg->is_writing ? "store in" : "read";

	/* 57P: it is being shut down, which may come before the end of the connection */
	if (PQstatus(pg->conn) != CONNECTION_OK || (code && !strncmp(code, "57P", 3)))
		return lost(pg, err);
	for (size_t i = 0; code && i < sizeof(known) / sizeof(*known); i++)
		if (!strncmp(code, known[i].code, strlen(known[i].code)))
			return error_set(err, known[i].number, "cannot %s '%s': %s", what,
					 pg->address->shown, known[i].says);
	return error_set(err, EIO, "cannot %s '%s': " STR_FMT, what, pg->address->shown,
			 STR_ARG(told(pg, says ? says : PQerrorMessage(pg->conn))));
}

/* --- opening --------------------------------------------------------------------------------- */

static void keep_quiet(void *ctx, const PGresult *result)
{
	(void)ctx, (void)result;
}

/* What the address and the environment do not say: names stand before it, so that it decides. */
static PGconn *connect_to(const struct pg_address *a)
{
	static const char *const names[] = {
		"connect_timeout",  "keepalives_idle",  "keepalives_interval",
		"keepalives_count", "tcp_user_timeout", "fallback_application_name",
		"dbname",           "client_encoding",  NULL
	};
	const char *timeout = getenv("PGCONNECT_TIMEOUT");
	const char *const values[] = {
		timeout ? timeout : "10",
		"30",
		"10",
		"3",
		"60000",
		"culprit",
		a->libpq,
		"UTF8",
		NULL,
	};

	return PQconnectdbParams(names, values, 1);
}

static int not_connected(const struct pg *pg, struct error *err)
{
	const char *shown = pg->address->shown;
	PGPing ping;

	if (PQconnectionNeedsPassword(pg->conn))
		return error_set(err, EACCES,
				 "'%s' asks for a password: put it into PGPASSWORD or ~/.pgpass",
				 shown);
	if (PQconnectionUsedPassword(pg->conn))
		return error_set(err, EACCES, "'%s' refuses this user or password: " STR_FMT, shown,
				 STR_ARG(told(pg, PQerrorMessage(pg->conn))));
	ping = PQping(pg->address->libpq);
	if (ping == PQPING_NO_RESPONSE)
		return error_set(err, ECONNREFUSED,
				 "no PostgreSQL answers at '%s': is it running, and are host and "
				 "port right?",
				 shown);
	if (ping == PQPING_REJECT)
		return error_set(err, EBUSY, "'%s' is just starting or stopping: try again", shown);
	return error_set(err, EIO, "cannot connect to '%s': " STR_FMT, shown,
			 STR_ARG(told(pg, PQerrorMessage(pg->conn))));
}

static int check_address(const struct pg_address *a, struct error *err)
{
	PQconninfoOption *parsed = PQconninfoParse(a->libpq, NULL);

	/* what libpq says quotes the address */
	if (!parsed)
		return error_set(err, EINVAL,
				 "'%s' is no address of PostgreSQL: it reads "
				 "postgresql://USER@HOST:PORT/DATABASE?NAME=VALUE",
				 a->shown);
	PQconninfoFree(parsed);
	return 0;
}

static int check_server(struct pg *pg, struct error *err)
{
	const char *encoding = PQparameterStatus(pg->conn, "server_encoding");

	if (PQserverVersion(pg->conn) < OLDEST)
		return error_set(err, ENOTSUP, "'%s' is older than PostgreSQL 10, which is needed",
				 pg->address->shown);
	if (encoding && strcmp(encoding, "UTF8") != 0 && strcmp(encoding, "SQL_ASCII") != 0)
		return error_set(err, ENOTSUP,
				 "the database at '%s' holds text as %s: make one with ENCODING "
				 "'UTF8'",
				 pg->address->shown, encoding);
	return 0;
}

static int quote_schema(struct pg *pg, struct error *err)
{
	const char *name = pg->address->schema;

	pg->schema = PQescapeIdentifier(pg->conn, name, strlen(name));
	return pg->schema ? 0 : error_set(err, EINVAL, "'%s' cannot name a schema", name);
}

int pg_open(struct pg *pg, const struct pg_address *address, struct error *err)
{
	struct pg made = { .address = address };
	int r = check_address(address, err);

	if (r)
		return r;
	made.conn = connect_to(address);
	if (!made.conn)
		mem_bytes(SIZE_MAX, 2); /* ends the program, as any allocation does */
	PQsetNoticeReceiver(made.conn, keep_quiet, NULL);
	if (PQstatus(made.conn) != CONNECTION_OK)
		r = not_connected(&made, err);
	if (!r)
		r = check_server(&made, err);
	if (!r)
		r = quote_schema(&made, err);
	if (r)
		pg_close(&made);
	else
		*pg = made;
	return r;
}

void pg_close(struct pg *pg)
{
	PQfreemem(pg->schema);
	PQfinish(pg->conn);
	buf_done(&pg->sql);
	*pg = (struct pg){ 0 };
}

/* --- statements ------------------------------------------------------------------------------ */

static const char *with_schema(struct pg *pg, const char *sql)
{
	struct str s = str_of(sql), part;

	buf_clear(&pg->sql);
	while (str_take_until(&s, '@', &part)) {
		buf_add(&pg->sql, part);
		buf_add(&pg->sql, str_of(pg->schema));
	}
	buf_add(&pg->sql, s);
	buf_char(&pg->sql, 0);
	return pg->sql.p;
}

static bool is_good(const PGresult *result)
{
	ExecStatusType status = PQresultStatus(result);

	return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

int pg_run(struct pg *pg, const char *sql, struct error *err)
{
	PGresult *result = PQexec(pg->conn, with_schema(pg, sql));
	int r = is_good(result) ? 0 : failed(pg, result, err);

	PQclear(result);
	return r;
}

int pg_ask(struct pg *pg, const char *sql, const char *const *values, int nr, PGresult **result,
	   struct error *err)
{
	PGresult *got =
		PQexecParams(pg->conn, with_schema(pg, sql), nr, NULL, values, NULL, NULL, 1);
	int r = is_good(got) ? 0 : failed(pg, got, err);

	if (r)
		PQclear(got);
	else
		*result = got;
	return r;
}

int pg_tell(struct pg *pg, const char *sql, const char *const *values, int nr, struct error *err)
{
	PGresult *result = NULL;
	int r = pg_ask(pg, sql, values, nr, &result, err);

	if (!r)
		PQclear(result);
	return r;
}

struct str pg_bytes(const PGresult *result, int row, int column)
{
	if (row >= PQntuples(result) || column >= PQnfields(result) ||
	    PQgetisnull(result, row, column))
		return STR("");
	return (struct str){ PQgetvalue(result, row, column),
			     (size_t)PQgetlength(result, row, column) };
}

int64_t pg_int(const PGresult *result, int row, int column)
{
	struct str s = pg_bytes(result, row, column);
	uint64_t v = 0;

	if (!s.n || s.n > sizeof(v))
		return 0;
	for (size_t i = 0; i < s.n; i++)
		v = v << 8 | (unsigned char)s.p[i];
	if (s.n < sizeof(v) && s.p[0] & 0x80)
		v |= UINT64_MAX << 8 * s.n;
	return (int64_t)v;
}

/* --- COPY ------------------------------------------------------------------------------------ */

int pg_copy_begin(struct pg *pg, const char *sql, struct error *err)
{
	PGresult *result = PQexec(pg->conn, with_schema(pg, sql));
	int r = PQresultStatus(result) == PGRES_COPY_IN ? 0 : failed(pg, result, err);

	PQclear(result);
	return r;
}

/* The server's reason, if it has given one, stands in the result that follows. */
static int copy_result(struct pg *pg, struct error *err)
{
	PGresult *result = PQgetResult(pg->conn);
	int r = is_good(result) ? 0 : failed(pg, result, err);

	while (result) {
		PQclear(result);
		result = PQgetResult(pg->conn);
	}
	return r;
}

int pg_copy_rows(struct pg *pg, struct str rows, struct error *err)
{
	while (rows.n) {
		struct str piece = str_head(rows, PIECE_BYTES);

		if (PQputCopyData(pg->conn, piece.p, (int)piece.n) != 1)
			return PQstatus(pg->conn) == CONNECTION_OK ? copy_result(pg, err)
								   : lost(pg, err);
		rows = str_skip(rows, piece.n);
	}
	return 0;
}

int pg_copy_end(struct pg *pg, struct error *err)
{
	if (PQputCopyEnd(pg->conn, NULL) != 1 && PQstatus(pg->conn) != CONNECTION_OK)
		return lost(pg, err);
	return copy_result(pg, err);
}
