/* Addresses of PostgreSQL: what libpq is given, what people see, and which run is meant. */
#include "unit.h"

#include <errno.h>

#include "base/buf.h"
#include "base/error.h"
#include "store/pg_address.h"
#include "store/store.h"

static void assert_parsed(const char *text, const char *libpq, const char *shown,
			  const char *schema, const char *run)
{
	struct error err = { 0 };
	struct pg_address a = { 0 };

	if (pg_address_parse(&a, text, NULL, &err))
		fail_msg("%s: %s", text, err.msg);
	assert_string_equal(a.libpq, libpq);
	assert_string_equal(a.shown, shown);
	assert_string_equal(a.schema, schema);
	if (run)
		assert_string_equal(a.run, run);
	else
		assert_null(a.run);
	pg_address_done(&a);
}

static void assert_refused(const char *text, const char *part, const char *secret)
{
	struct error err = { 0 };
	struct pg_address a = { 0 };

	assert_int_equal(pg_address_parse(&a, text, NULL, &err), -EINVAL);
	if (!strstr(err.msg, part))
		fail_msg("'%s' does not say '%s'", err.msg, part);
	assert_true(!secret || !strstr(err.msg, secret));
	assert_null(a.libpq);
}

static void only_the_two_schemes_are_addresses(void **state)
{
	(void)state;
	assert_true(pg_address_is("postgresql://"));
	assert_true(pg_address_is("postgres://u@h/db"));
	assert_false(pg_address_is("postgresql:/h/db"));
	assert_false(pg_address_is("x.culprit"));
	assert_false(pg_address_is(""));
	assert_false(pg_address_is("./postgresql://h"));
}

static void an_address_without_ours_is_handed_on_as_it_is(void **state)
{
	(void)state;
	assert_parsed("postgresql://", "postgresql://", "postgresql://", "culprit", NULL);
	assert_parsed("postgres://u@h1:1,h2:2/db?sslmode=require&target_session_attrs=any",
		      "postgresql://u@h1:1,h2:2/db?sslmode=require&target_session_attrs=any",
		      "postgresql://u@h1:1,h2:2/db?sslmode=require&target_session_attrs=any",
		      "culprit", NULL);
	assert_parsed("postgresql://%2Frun%2Fpg/db", "postgresql://%2Frun%2Fpg/db",
		      "postgresql://%2Frun%2Fpg/db", "culprit", NULL);
}

static void the_run_and_the_schema_are_taken_out(void **state)
{
	(void)state;
	assert_parsed("postgresql://h/db?run=a%20b&host=/tmp", "postgresql://h/db?host=/tmp",
		      "postgresql://h/db?host=/tmp#a%20b", "culprit", "a b");
	assert_parsed("postgresql://h/db?port=1&schema=Team%22x#friday", "postgresql://h/db?port=1",
		      "postgresql://h/db?port=1&schema=Team%22x#friday", "Team\"x", "friday");
	assert_parsed("postgresql://h/db?run=x#x", "postgresql://h/db", "postgresql://h/db#x",
		      "culprit", "x");
	assert_parsed("postgresql://h/db#", "postgresql://h/db", "postgresql://h/db", "culprit",
		      NULL);
	assert_parsed("postgresql://h?run=/&user=a@b", "postgresql://h?user=a%40b",
		      "postgresql://h?user=a%40b#%2F", "culprit", "/");
	assert_parsed("postgresql://h/db?&run=x&", "postgresql://h/db", "postgresql://h/db#x",
		      "culprit", "x");
}

static void a_password_is_handed_on_but_never_shown(void **state)
{
	(void)state;
	assert_parsed("postgresql://me:top%2Fsecret@h/db", "postgresql://me:top%2Fsecret@h/db",
		      "postgresql://me@h/db", "culprit", NULL);
	assert_parsed("postgresql://me:a#b?c:d@h/db", "postgresql://me:a#b?c:d@h/db",
		      "postgresql://me@h/db", "culprit", NULL);
	assert_parsed("postgresql://h/db?password=secret&user=me&sslpassword=key",
		      "postgresql://h/db?password=secret&user=me&sslpassword=key",
		      "postgresql://h/db?user=me", "culprit", NULL);
	assert_parsed("postgresql://h/db?p%61ssword=secret", "postgresql://h/db?p%61ssword=secret",
		      "postgresql://h/db", "culprit", NULL);
}

static void what_would_make_libpq_quote_a_password_is_refused(void **state)
{
	(void)state;
	assert_refused("postgresql://me:top/secret@h/db", "%2F", "secret");
	assert_refused("postgresql://me:top@secret@h/db", "%40", "secret");
}

static void broken_parts_are_told(void **state)
{
	(void)state;
	assert_refused("postgresql://h/db?run", "name=value", NULL);
	assert_refused("postgresql://h/db?run=%2", "name=value", NULL);
	assert_refused("postgresql://h/db?schema=%zz", "%25", NULL);
	assert_refused("postgresql://h/db#%00", "%25", NULL);
	assert_refused("postgresql://h/db?run=", "1 to 200", NULL);
	assert_refused("postgresql://h/db#a%0Ab", "control", NULL);
	assert_refused("postgresql://h/db#a%ff", "control", NULL);
	assert_refused("postgresql://h/db?schema=", "1 to 63", NULL);
	assert_refused("postgresql://h/db?run=a#b", "two names", NULL);
}

static void assert_named(const char *text, const char *run, const char *otherwise,
			 const char *expected)
{
	struct error err = { 0 };
	struct buf b = { 0 };
	int r = pg_address_named(text, run, otherwise, &b, &err);

	if (!expected) {
		assert_int_equal(r, -EINVAL);
	} else {
		assert_int_equal(r, 0);
		buf_char(&b, 0);
		assert_string_equal(b.p, expected);
	}
	buf_done(&b);
}

static void a_run_is_named_by_the_first_that_says_so(void **state)
{
	(void)state;
	assert_named("postgresql://h/db", "a#b", "run", "postgresql://h/db#a%23b");
	assert_named("postgresql://h", "me@x/y", "run", "postgresql://h#me%40x%2Fy");
	assert_named("postgresql://h/db", NULL, "run", "postgresql://h/db#run");
	assert_named("postgresql://h/db#", NULL, "run", "postgresql://h/db#run");
	assert_named("postgresql://u:p@h/db?run=own", NULL, "run", "postgresql://u:p@h/db?run=own");
	assert_named("postgresql://h/db?run=own", "own", "run", "postgresql://h/db?run=own");
	assert_named("postgresql://h/db?run=own", "other", "run", NULL);
	assert_named("postgresql://h/db", "", "run", NULL);
}

static void a_server_that_is_not_there_is_told_in_one_line(void **state)
{
	struct error err = { 0 };
	struct store *s = NULL;

	(void)state;
	assert_true(store_open(&s, "postgresql://me:secret@/db?host=/no/such/place#x", &err) < 0);
	assert_null(s);
	assert_non_null(strstr(err.msg, "PostgreSQL"));
	assert_null(strstr(err.msg, "secret"));
	assert_null(strchr(err.msg, '\n'));
	assert_true(store_open(&s, "postgresql://h/db?nonsense=secret", &err) < 0);
	assert_non_null(strstr(err.msg, "PostgreSQL"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_two_schemes_are_addresses),
		cmocka_unit_test(an_address_without_ours_is_handed_on_as_it_is),
		cmocka_unit_test(the_run_and_the_schema_are_taken_out),
		cmocka_unit_test(a_password_is_handed_on_but_never_shown),
		cmocka_unit_test(what_would_make_libpq_quote_a_password_is_refused),
		cmocka_unit_test(broken_parts_are_told),
		cmocka_unit_test(a_run_is_named_by_the_first_that_says_so),
		cmocka_unit_test(a_server_that_is_not_there_is_told_in_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
