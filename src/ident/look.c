#include "ident/look.h"

#include <string.h>

#include "ident/chars.h"
#include "ident/token.h"

static size_t run_of(struct str s, unsigned class)
{
	size_t n = 0;

	while (n < s.n && chars_is(s.p[n], class))
		n++;
	return n;
}

/* So many digits, by their class, behind this sign (0: none). */
static bool take_digits(struct str *s, char sign, unsigned class)
{
	struct str rest = *s;
	size_t n;

	if (sign && !str_take_char(&rest, sign))
		return false;
	n = run_of(rest, CHAR_DIGIT);
	if (!n || token_digits(n) != class)
		return false;
	*s = str_skip(rest, n);
	return true;
}

static bool take_time(struct str *s)
{
	struct str t = *s;

	if (!take_digits(&t, 0, 1) || !take_digits(&t, ':', 1) || !take_digits(&t, ':', 1))
		return false;
	if (t.n > 1 && (t.p[0] == '.' || t.p[0] == ',') && chars_is(t.p[1], CHAR_DIGIT))
		t = str_skip(t, 1 + run_of(str_skip(t, 1), CHAR_DIGIT));
	if (str_take_char(&t, 'Z')) {
		*s = t;
		return true;
	}
	*s = t;
	if (take_digits(&t, '+', 1) || take_digits(&t, '-', 1) || take_digits(&t, '+', 4) ||
	    take_digits(&t, '-', 4)) {
		take_digits(&t, ':', 1);
		*s = t;
	}
	return true;
}

static bool take_month(struct str *s)
{
	if (run_of(*s, CHAR_LETTER) != 3)
		return false;
	*s = str_skip(*s, 3);
	return true;
}

/* 2026-11-15, with the same sign twice. */
static bool take_iso_day(struct str *s)
{
	struct str t = *s;
	char sign;

	if (!take_digits(&t, 0, 4) || !t.n || !strchr("-/.", t.p[0]))
		return false;
	sign = t.p[0];
	if (!take_digits(&t, sign, 1) || !take_digits(&t, sign, 1))
		return false;
	*s = t;
	return true;
}

static bool take_day(struct str *s)
{
	struct str t = *s;

	if (take_iso_day(s))
		return true;
	if (!take_digits(&t, 0, 1) || !str_take_char(&t, '/'))
		return false;
	if (take_month(&t) ? !take_digits(&t, '/', 4)
			   : !take_digits(&t, 0, 1) ||
				     (!take_digits(&t, '/', 4) && !take_digits(&t, '/', 1)))
		return false;
	*s = t;
	return true;
}

static bool ends_here(struct str rest)
{
	return !rest.n || !chars_is(rest.p[0], CHAR_WORD);
}

/* "04 08:00:00 CST 2013", behind the names of a day and a month. */
static size_t look_ctime(struct str s)
{
	struct str t = s, zone;

	if (!take_digits(&t, 0, 1) || !str_take_char(&t, ' ') || !take_time(&t))
		return 0;
	zone = str_skip(t, 1);
	if (t.n && t.p[0] == ' ' && run_of(zone, CHAR_UPPER) >= 3 && run_of(zone, CHAR_UPPER) < 5)
		t = str_skip(zone, run_of(zone, CHAR_UPPER));
	take_digits(&t, ' ', 4);
	return ends_here(t) ? s.n - t.n : 0;
}

size_t look_date(struct str s)
{
	struct str t = s, then;

	if (look_ctime(s))
		return look_ctime(s);

	if (!take_day(&t)) {
		if (!take_time(&t) || !ends_here(t))
			return 0;
		return s.n - t.n;
	}
	then = t;
	if ((str_take_char(&then, 'T') || str_take_char(&then, ' ') || str_take_char(&then, ':')) &&
	    take_time(&then) && ends_here(then))
		return s.n - then.n;
	return ends_here(t) && !(t.n > 1 && t.p[0] == '-' && chars_is(t.p[1], CHAR_WORD))
		       ? s.n - t.n
		       : 0;
}

size_t look_fraction(struct str s)
{
	size_t a = run_of(s, CHAR_DIGIT), b;

	if (!a || a + 1 >= s.n || (s.p[a] != '/' && s.p[a] != ':'))
		return 0;
	b = run_of(str_skip(s, a + 1), CHAR_DIGIT);
	if (!b || a + 1 + b > s.n)
		return 0;
	if (a + 1 + b < s.n &&
	    (chars_is(s.p[a + 1 + b], CHAR_WORD) || s.p[a + 1 + b] == '/' || s.p[a + 1 + b] == ':'))
		return 0;
	return a + 1 + b;
}

size_t look_ip(struct str s)
{
	struct str t = s;

	if (!take_digits(&t, 0, 1) || !take_digits(&t, '.', 1) || !take_digits(&t, '.', 1) ||
	    !take_digits(&t, '.', 1))
		return 0;
	if (t.n && (chars_is(t.p[0], CHAR_WORD) ||
		    (t.p[0] == '.' && t.n > 1 && chars_is(t.p[1], CHAR_WORD))))
		return 0;
	return s.n - t.n;
}

size_t look_url(struct str s)
{
	size_t n = run_of(s, CHAR_LETTER);

	if (n < 2 || !str_starts(str_skip(s, n), STR("://")))
		return 0;
	n += 3;
	n += run_of(str_skip(s, n), CHAR_WORD | CHAR_JOIN);
	if (n < s.n && s.p[n] == '/') {
		size_t path = look_path(str_skip(s, n));

		return n + (path ? path : 1);
	}
	while (n && strchr(".:-=+", s.p[n - 1]))
		n--;
	return n;
}

size_t look_url_path(struct str url)
{
	size_t n = run_of(url, CHAR_LETTER) + 3;

	while (n < url.n && url.p[n] != '/')
		n++;
	return n;
}

/* The number at the end, and what may follow it behind a dot. */
static size_t joined_end(struct str s)
{
	size_t n = run_of(s, CHAR_DIGIT), more;

	if (n + 1 >= s.n || s.p[n] != '.')
		return n;
	more = run_of(str_skip(s, n + 1), CHAR_ALNUM);
	return more ? n + 1 + more : n;
}

size_t look_joined(struct str s)
{
	size_t a = run_of(s, CHAR_WORD | CHAR_JOIN), b, c;
	struct str rest;

	if (!a || a >= s.n || s.p[a] != ',' || !chars_is(s.p[a - 1], CHAR_WORD | CHAR_JOIN))
		return 0;
	rest = str_skip(s, a + 1);
	b = run_of(rest, CHAR_WORD | CHAR_JOIN);
	if (b >= rest.n || rest.p[b] != ',')
		return 0;
	rest = str_skip(rest, b + 1);
	c = run_of(rest, CHAR_DIGIT);
	if (!c || (b && token_digits(c) < 10))
		return 0;
	c = joined_end(rest);
	if (c < rest.n && (chars_is(rest.p[c], CHAR_WORD) || rest.p[c] == ','))
		return 0;
	return a + 1 + b + 1 + c;
}

/* Whether parts joined by commas stand at this place within a path, behind its last slash. */
static size_t joined_in_path(struct str s, size_t at)
{
	const char *slash = memrchr(s.p, '/', at);
	size_t start = (size_t)(slash - s.p) + 1, n = look_joined(str_skip(s, start));

	return n && start + n > at ? start + n : 0;
}

size_t look_path(struct str s)
{
	size_t n = 1, joined;

	if (s.n < 2 || s.p[0] != '/' || !(chars_is(s.p[1], CHAR_WORD) || s.p[1] == '.'))
		return 0;
	for (; n < s.n; n++) {
		if (s.p[n] == ',' && (joined = joined_in_path(s, n)))
			n = joined - 1;
		else if (s.p[n] == ':' || s.p[n] == '@' ||
			 !chars_is(s.p[n], CHAR_WORD | CHAR_JOIN | CHAR_PATH))
			break;
	}
	while (n > 1 && strchr(".-=+", s.p[n - 1]))
		n--;
	return n > 1 ? n : 0;
}
