#include "store/pg_address.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/utf8.h"

/*
 *   postgresql:// user:password@ host:port,host:port /database ?sslmode=require&run=NAME #NAME
 *   scheme        credentials    place                          parameters               fragment
 *
 * libpq knows neither fragment nor our two parameters, so they are taken out before it sees the
 * address; the password is taken out of what people see. As libpq does, credentials are looked for
 * up to the first slash only. A slash in a password therefore cuts it in two, and libpq would quote
 * one half in its complaint: such an address is refused here, without a quotation.
 */

#define SCHEMA_MOST 63 /* bytes of a name in PostgreSQL */

static bool take_scheme(struct str *s)
{
	return str_take(s, STR("postgresql://")) || str_take(s, STR("postgres://"));
}

bool pg_address_is(const char *text)
{
	struct str s = str_of(text);

	return take_scheme(&s);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* False when a '%' is not followed by two digits, or stands for a zero byte. */
static bool decode(struct str s, struct buf *out)
{
	buf_clear(out);
	while (s.n) {
		int high, low;

		if (s.p[0] != '%') {
			buf_char(out, s.p[0]);
			s = str_skip(s, 1);
			continue;
		}
		high = s.n > 2 ? hex_digit(s.p[1]) : -1;
		low = s.n > 2 ? hex_digit(s.p[2]) : -1;
		if (high < 0 || low < 0 || high + low == 0)
			return false;
		buf_char(out, (char)(high << 4 | low));
		s = str_skip(s, 3);
	}
	return true;
}

static void add_encoded(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if ((unsigned char)s.p[i] <= ' ' || strchr("%#?&@/'\"\\", s.p[i]))
			buf_fmt(out, "%%%02X", (unsigned char)s.p[i]);
		else
			buf_char(out, s.p[i]);
	}
}

static char *z_of(struct str s)
{
	char *z = mem_alloc(s.n + 1);

	if (s.n)
		memcpy(z, s.p, s.n);
	z[s.n] = 0;
	return z;
}

static bool is_name(struct str s, size_t most)
{
	if (!s.n || s.n > most)
		return false;
	while (s.n) {
		size_t n = utf8_length(s);

		if (!n || (unsigned char)s.p[0] < ' ' || s.p[0] == 0x7f)
			return false;
		s = str_skip(s, n);
	}
	return true;
}

static int set_run(struct pg_address *a, struct str name, struct error *err)
{
	if (!is_name(name, PG_ADDRESS_NAME_MOST))
		return error_set(err, EINVAL,
				 "the name of a run has 1 to %d bytes and no control characters",
				 PG_ADDRESS_NAME_MOST);
	if (a->run && !str_eq(str_of(a->run), name))
		return error_set(err, EINVAL, "two names for one run: '%s' and '" STR_FMT "'",
				 a->run, STR_ARG(name));
	free(a->run);
	a->run = z_of(name);
	return 0;
}

static int set_schema(struct pg_address *a, struct str name, struct error *err)
{
	if (!is_name(name, SCHEMA_MOST))
		return error_set(err, EINVAL,
				 "the name of a schema has 1 to %d bytes and no control characters",
				 SCHEMA_MOST);
	free(a->schema);
	a->schema = z_of(name);
	return 0;
}

/* The two texts that are being put together. */
struct making {
	struct buf libpq, shown, key, value;
	bool is_libpq_first, is_shown_first;
};

/* An '@' might be taken for the end of credentials once the slash before it is gone. */
static void add_parameter(struct buf *to, bool *is_first, struct str whole)
{
	buf_char(to, *is_first ? '?' : '&');
	for (size_t i = 0; i < whole.n; i++)
		if (whole.p[i] == '@')
			buf_add(to, STR("%40"));
		else
			buf_char(to, whole.p[i]);
	*is_first = false;
}

static int one_parameter(struct pg_address *a, struct making *m, struct str whole,
			 struct error *err)
{
	size_t at = str_find_char(whole, '=');
	struct str key;

	if (!whole.n)
		return 0;
	if (at == whole.n || !decode(str_head(whole, at), &m->key) ||
	    !decode(str_skip(whole, at + 1), &m->value))
		return error_set(err, EINVAL,
				 "the part of the address after '?' is to read name=value, "
				 "joined by '&', with %%25 for a percent sign");
	key = buf_str(&m->key);
	if (str_eq(key, STR("run")))
		return set_run(a, buf_str(&m->value), err);
	add_parameter(&m->libpq, &m->is_libpq_first, whole);
	if (!str_eq(key, STR("password")) && !str_eq(key, STR("sslpassword")))
		add_parameter(&m->shown, &m->is_shown_first, whole);
	return 0;
}

/* "schema" is ours as "run" is, but stays in what is shown: without it the run is not found. */
static int one_of_parameters(struct pg_address *a, struct making *m, struct str whole,
			     struct error *err)
{
	struct str value = whole;

	if (!str_take(&value, STR("schema=")))
		return one_parameter(a, m, whole, err);
	if (!decode(value, &m->value))
		return error_set(err, EINVAL, "a percent sign in an address is written %%25");
	add_parameter(&m->shown, &m->is_shown_first, whole);
	return set_schema(a, buf_str(&m->value), err);
}

static int take_parameters(struct pg_address *a, struct making *m, struct str s, struct error *err)
{
	int r = 0;

	while (s.n && !r) {
		size_t n = str_find_char(s, '&');

		r = one_of_parameters(a, m, str_head(s, n), err);
		s = str_skip(s, n + 1);
	}
	return r;
}

/* Passes user and password, and shows the user only. */
static int take_credentials(struct making *m, struct str *s, struct error *err)
{
	size_t slash = str_find_char(*s, '/'), at = str_find_char(str_head(*s, slash), '@');
	struct str credentials = str_head(*s, at);

	if (at < slash) {
		buf_add(&m->libpq, str_head(*s, at + 1));
		buf_add(&m->shown, str_head(credentials, str_find_char(credentials, ':')));
		buf_char(&m->shown, '@');
		*s = str_skip(*s, at + 1);
	}
	if (str_find_char(str_head(*s, str_find_char(*s, '?')), '@') < str_find_char(*s, '?'))
		return error_set(
			err, EINVAL,
			"in the user and the password of an address '/' is written %%2F and "
			"'@' %%40 (better: leave the password to PGPASSWORD or ~/.pgpass)");
	return 0;
}

static int take_all(struct pg_address *a, struct making *m, struct str s, struct error *err)
{
	struct str fragment, parameters;
	int r;

	take_scheme(&s);
	buf_add(&m->libpq, STR("postgresql://"));
	buf_add(&m->shown, STR("postgresql://"));
	r = take_credentials(m, &s, err);
	if (r)
		return r;
	fragment = str_skip(s, str_find_char(s, '#'));
	s = str_head(s, s.n - fragment.n);
	parameters = str_skip(s, str_find_char(s, '?'));
	s = str_head(s, s.n - parameters.n);
	buf_add(&m->libpq, s);
	buf_add(&m->shown, s);
	r = take_parameters(a, m, str_skip(parameters, 1), err);
	if (r || fragment.n <= 1)
		return r;
	if (!decode(str_skip(fragment, 1), &m->value))
		return error_set(err, EINVAL, "a percent sign in an address is written %%25");
	return set_run(a, buf_str(&m->value), err);
}

int pg_address_parse(struct pg_address *a, const char *text, const char *run, struct error *err)
{
	struct making m = { .is_libpq_first = true, .is_shown_first = true };
	struct pg_address made = { .schema = z_of(STR(PG_ADDRESS_SCHEMA)) };
	int r = take_all(&made, &m, str_of(text), err);

	if (!r && run)
		r = set_run(&made, str_of(run), err);
	if (!r && made.run) {
		buf_char(&m.shown, '#');
		add_encoded(&m.shown, str_of(made.run));
	}
	made.libpq = z_of(buf_str(&m.libpq));
	made.shown = z_of(buf_str(&m.shown));
	buf_done(&m.libpq);
	buf_done(&m.shown);
	buf_done(&m.key);
	buf_done(&m.value);
	if (r)
		pg_address_done(&made);
	else
		*a = made;
	return r;
}

int pg_address_named(const char *text, const char *run, const char *otherwise, struct buf *named,
		     struct error *err)
{
	struct pg_address own = { 0 }, a = { 0 };
	int r = pg_address_parse(&own, text, NULL, err);

	if (!r)
		r = pg_address_parse(&a, text, run ? run : own.run ? NULL : otherwise, err);
	if (!r) {
		struct str s = str_of(text);

		buf_add(named, s);
		if (!own.run && !str_ends(s, STR("#")))
			buf_char(named, '#');
		if (!own.run && a.run)
			add_encoded(named, str_of(a.run));
	}
	pg_address_done(&own);
	pg_address_done(&a);
	return r;
}

void pg_address_done(struct pg_address *a)
{
	free(a->libpq);
	free(a->shown);
	free(a->schema);
	free(a->run);
	*a = (struct pg_address){ 0 };
}
