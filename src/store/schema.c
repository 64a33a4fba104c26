#include "store/schema.h"

#include <errno.h>
#include <stdbool.h>

#include "base/error.h"
#include "store/pg.h"
#include "store/pg_address.h"

/*
 * blocks holds the run itself, byte for byte what a run file holds; the rest says the same to
 * people who ask in SQL. Nothing refers to runs by a foreign key, since a check for each of a
 * million rows costs more than to write them: a trigger removes the rows of a run with it.
 */

#define SCHEMA_VERSION 1

static const char tables[] =
	"CREATE TABLE @.about (culprit_version integer NOT NULL);"
	"CREATE TABLE @.runs ("
	" run bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE,"
	" stored timestamptz NOT NULL DEFAULT clock_timestamp(),"
	" stored_by text NOT NULL DEFAULT current_user,"
	" version text NOT NULL, format integer NOT NULL,"
	" first timestamptz, last timestamptz, requests bigint NOT NULL, spans bigint NOT NULL,"
	" log_lines bigint NOT NULL, events bigint NOT NULL, files bigint NOT NULL,"
	" input_bytes bigint NOT NULL);"
	"CREATE TABLE @.blocks ("
	" run bigint NOT NULL, part smallint NOT NULL, number bigint NOT NULL,"
	" data bytea NOT NULL, PRIMARY KEY (run, part, number));"
	"ALTER TABLE @.blocks ALTER data SET STORAGE EXTERNAL;"
	"CREATE TABLE @.requests ("
	" run bigint NOT NULL, id bigint NOT NULL, type text NOT NULL,"
	" started timestamptz, ended timestamptz, duration_ms double precision,"
	" nodes text[] NOT NULL, sequence text NOT NULL, confidence real NOT NULL,"
	" incomplete boolean NOT NULL, error boolean NOT NULL, key text NOT NULL,"
	" method text NOT NULL, spans integer NOT NULL, events integer NOT NULL,"
	" start_ns bigint NOT NULL, end_ns bigint NOT NULL, PRIMARY KEY (run, id));"
	"CREATE TABLE @.nodes ("
	" run bigint NOT NULL, request bigint NOT NULL, node text NOT NULL,"
	" first timestamptz, last timestamptz, spans integer NOT NULL);"
	"CREATE INDEX ON @.nodes (run, request);"
	"CREATE TABLE @.sequences ("
	" run bigint NOT NULL, sequence text NOT NULL, position integer NOT NULL,"
	" span integer, name text, level text, point text, message text,"
	" PRIMARY KEY (run, sequence, position));"
	"CREATE TABLE @.files ("
	" run bigint NOT NULL, number integer NOT NULL, path text NOT NULL, format text NOT NULL,"
	" layout text NOT NULL, bytes bigint NOT NULL, lines bigint NOT NULL,"
	" events bigint NOT NULL, PRIMARY KEY (run, number));"
	"CREATE TABLE @.losses ("
	" run bigint NOT NULL, loss text NOT NULL, count bigint NOT NULL,"
	" PRIMARY KEY (run, loss));";

static const char removal[] =
	"CREATE FUNCTION @.forget_run() RETURNS trigger LANGUAGE plpgsql AS $culprit$"
	" DECLARE t text; BEGIN"
	" FOREACH t IN ARRAY ARRAY['blocks', 'requests', 'nodes', 'sequences', 'files', 'losses']"
	" LOOP EXECUTE format('DELETE FROM %I.%I WHERE run = $1', TG_TABLE_SCHEMA, t) USING "
	"OLD.run;"
	" END LOOP; RETURN OLD; END $culprit$;"
	"CREATE TRIGGER forget_run AFTER DELETE ON @.runs"
	" FOR EACH ROW EXECUTE PROCEDURE @.forget_run();";

static const char comments[] =
	"COMMENT ON TABLE @.runs IS 'one row for each run; deleting it deletes all of the run';"
	"COMMENT ON TABLE @.blocks IS 'the runs as culprit reads them, compressed';"
	"COMMENT ON TABLE @.requests IS 'every request: type, time, nodes, sequence of log points';"
	"COMMENT ON COLUMN @.requests.sequence IS 'equal for requests that passed the same points "
	"in the "
	"same order: see the table sequences';"
	"COMMENT ON COLUMN @.requests.start_ns IS 'since 1970, exact: started has microseconds';"
	"COMMENT ON TABLE @.nodes IS 'for each request the nodes it passed, with its time there';"
	"COMMENT ON TABLE @.sequences IS 'for each sequence its points, span after span';"
	"COMMENT ON TABLE @.files IS 'the inputs of each run';"
	"COMMENT ON TABLE @.losses IS 'what was skipped, guessed or corrected in each run';";

struct state {
	bool is_there, is_ours;
	int64_t nr_tables;
};

static int look(struct pg *pg, struct state *s, struct error *err)
{
	static const char sql[] =
		"SELECT n.oid, count(c.oid),"
		" coalesce(bool_or(c.relname = 'about' AND a.attnum IS NOT NULL), false)"
		" FROM pg_namespace n LEFT JOIN pg_class c ON c.relnamespace = n.oid AND"
		" c.relkind IN ('r', 'p', 'v', 'm', 'f')"
		" LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'culprit_version'"
		" WHERE n.nspname = $1 GROUP BY n.oid";
	const char *values[] = { pg->address->schema };
	PGresult *got;
	int r = pg_ask(pg, sql, values, 1, &got, err);

	if (r)
		return r;
	*s = (struct state){ .is_there = PQntuples(got) > 0,
			     .is_ours = pg_int(got, 0, 2),
			     .nr_tables = pg_int(got, 0, 1) };
	PQclear(got);
	return 0;
}

static int check_version(struct pg *pg, struct error *err)
{
	PGresult *got;
	int64_t version;
	int r = pg_ask(pg, "SELECT culprit_version FROM @.about", NULL, 0, &got, err);

	if (r)
		return r;
	version = pg_int(got, 0, 0);
	PQclear(got);
	if (version > SCHEMA_VERSION)
		return error_set(
			err, ENOTSUP,
			"the schema '%s' at '%s' was made by a newer culprit: upgrade this "
			"one, or name another schema with ?schema=NAME",
			pg->address->schema, pg->address->shown);
	if (version < 1)
		return error_set(
			err, EBADMSG,
			"the schema '%s' at '%s' is damaged (no version): drop it, or name "
			"another with ?schema=NAME",
			pg->address->schema, pg->address->shown);
	return 0;
}

static int not_ours(const struct pg *pg, struct error *err)
{
	return error_set(err, EEXIST,
			 "the schema '%s' at '%s' holds tables of something else: name another "
			 "with ?schema=NAME",
			 pg->address->schema, pg->address->shown);
}

static int check_rights(struct pg *pg, struct error *err)
{
	static const char sql[] =
		"SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
		" WHERE n.nspname = $1 AND c.relname IN ('runs', 'blocks', 'requests', 'nodes',"
		" 'sequences', 'files', 'losses') AND has_table_privilege(c.oid, 'SELECT')"
		" AND has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'DELETE')"
		" AND (c.relname <> 'runs' OR has_table_privilege(c.oid, 'UPDATE'))";
	const char *values[] = { pg->address->schema };
	PGresult *got;
	int64_t nr;
	int r = pg_ask(pg, sql, values, 1, &got, err);

	if (r)
		return r;
	nr = pg_int(got, 0, 0);
	PQclear(got);
	if (nr == 7)
		return 0;
	return error_set(err, EACCES,
			 "'%s' lets this user read the tables of schema '%s' only: their owner can "
			 "GRANT SELECT, INSERT, UPDATE, DELETE",
			 pg->address->shown, pg->address->schema);
}

static int check_read_write(struct pg *pg, struct error *err)
{
	PGresult *got;
	bool is_read_only;
	int r = pg_ask(pg, "SELECT current_setting('transaction_read_only') = 'on'", NULL, 0, &got,
		       err);

	if (r)
		return r;
	is_read_only = pg_int(got, 0, 0);
	PQclear(got);
	return is_read_only ? error_set(err, EROFS,
					"'%s' can only be read: give the address of the primary "
					"server",
					pg->address->shown)
			    : 0;
}

static int make_tables(struct pg *pg, const struct state *s, struct error *err)
{
	int r = s->is_there ? 0 : pg_run(pg, "CREATE SCHEMA @", err);

	if (!r)
		r = pg_run(pg, tables, err);
	if (!r)
		r = pg_run(pg, removal, err);
	if (!r)
		r = pg_run(pg, comments, err);
	return r ? r : pg_run(pg, "INSERT INTO @.about VALUES (1)", err);
}

/* Whoever comes second waits here and finds them made. */
int schema_make(struct pg *pg, struct error *err)
{
	const char *values[] = { pg->address->schema };
	struct state s;
	int r = check_read_write(pg, err);

	if (!r)
		r = pg_tell(pg, "SELECT pg_advisory_xact_lock(hashtext('culprit'), hashtext($1))",
			    values, 1, err);
	if (!r)
		r = look(pg, &s, err);
	if (r)
		return r;
	if (!s.is_there || !s.nr_tables)
		return make_tables(pg, &s, err);
	if (!s.is_ours)
		return not_ours(pg, err);
	r = check_version(pg, err);
	return r ? r : check_rights(pg, err);
}

int schema_check(struct pg *pg, struct error *err)
{
	struct state s;
	int r = look(pg, &s, err);

	if (r)
		return r;
	if (!s.is_there || !s.nr_tables)
		return error_set(
			err, ENOENT,
			"there are no runs at '%s': culprit analyze LOGS --store stores one",
			pg->address->shown);
	return s.is_ours ? check_version(pg, err) : not_ours(pg, err);
}
