/*
 * A writer, or logrotate in its place, puts a number or a date into the name of a log that it lays
 * aside, behind the name or in front of its ending, and compression adds an ending of its own:
 *
 *      app.log.2.gz   app.log.1   app.log        app.2024-01-01.log.xz   app.2024-01-02.log app.log
 *
 * Numbers grow with age where nothing else is said (each rotation renames them all); a number
 * behind a date counts on within the day, as log4j and logback do.
 */
#include "source/rotation.h"

#include <ctype.h>

static const char *const packed[] = { ".gz", ".xz", ".zst", ".bz2" };
static const char *const laid_aside[] = { ".old", ".bak" };
static const char *const endings[] = {
	".log", ".out", ".txt", ".err", ".json", ".jsonl", ".ndjson"
};

#define NR(a) (sizeof(a) / sizeof(*(a)))

static bool take_ending(struct str *s, const char *const *words, size_t nr, struct str *ending)
{
	for (size_t i = 0; i < nr; i++) {
		struct str e = str_of(words[i]);

		if (s->n <= e.n || !str_eq_nocase(str_skip(*s, s->n - e.n), e))
			continue;
		*ending = str_skip(*s, s->n - e.n);
		s->n -= e.n;
		return true;
	}
	return false;
}

/* "20240101", "2024-01-01", either with an hour or more behind it, or the seconds of the epoch. */
static bool is_date(struct str s)
{
	unsigned year, month, day;

	if (!str_take_digits(&s, 4, &year) || year < 1980 || year > 2100)
		return false;
	str_take_char(&s, '-');
	if (!str_take_digits(&s, 2, &month) || !month || month > 12)
		return false;
	str_take_char(&s, '-');
	if (!str_take_digits(&s, 2, &day) || !day || day > 31)
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!isdigit((unsigned char)s.p[i]) && !strchr("-_T", s.p[i]))
			return false;
	return s.n <= sizeof("-1700000000") - 1;
}

static bool is_number(struct str s, uint64_t *number)
{
	return s.n <= 3 && str_take_uint(&s, number) && !s.n;
}

struct str rotation_strip(struct str s, struct str *suffix)
{
	for (size_t at = s.n; at-- > 1;) {
		struct str tail = str_skip(s, at + 1);
		uint64_t number;

		if (!strchr(".-_", s.p[at]))
			continue;
		if (!is_date(tail) && !(s.p[at] == '.' && is_number(tail, &number)))
			continue;
		*suffix = tail;
		return str_head(s, at);
	}
	return s;
}

static void note(struct rotation *r, struct str suffix)
{
	uint64_t number;

	if (is_number(suffix, &number)) {
		r->number = number;
		if (r->age != ROTATION_DATED)
			r->age = ROTATION_NUMBERED;
	} else {
		r->date = suffix;
		r->age = ROTATION_DATED;
	}
}

/* The name of the log is what is left, with the ending that stood behind the date or number. */
static void set_log(struct rotation *r, struct str front, struct str ending)
{
	size_t n;

	front = str_head(front, sizeof(r->log) - 1);
	ending = str_head(ending, sizeof(r->log) - 1 - front.n);
	n = front.n + ending.n;
	if (front.n)
		memcpy(r->log, front.p, front.n);
	if (ending.n)
		memcpy(r->log + front.n, ending.p, ending.n);
	r->log[n] = 0;
}

void rotation_of(struct str name, struct rotation *r)
{
	struct str ending = { 0 }, suffix, away;
	bool again = true;

	*r = (struct rotation){ .age = ROTATION_NONE };
	while (again) {
		struct str rest = rotation_strip(name, &suffix);

		again = true;
		if (rest.n < name.n) {
			note(r, suffix);
			name = rest;
		} else if (take_ending(&name, laid_aside, NR(laid_aside), &away)) {
			if (r->age == ROTATION_NONE)
				r->age = ROTATION_OLD;
		} else if (take_ending(&name, packed, NR(packed), &away)) {
			r->is_packed = true;
		} else {
			again = !ending.n && take_ending(&name, endings, NR(endings), &ending);
		}
	}
	set_log(r, name, ending);
}

void rotation_log(struct buf *b, struct str path)
{
	size_t dir = path.n;
	struct rotation r;

	while (dir && path.p[dir - 1] != '/')
		dir--;
	rotation_of(str_skip(path, dir), &r);
	buf_add(b, str_head(path, dir));
	buf_add(b, str_of(r.log));
}

/* Runs of digits by their value, all else by bytes: "2024-01-01-3" is before "2024-01-01-12". */
static int cmp_dates(struct str a, struct str b)
{
	while (a.n && b.n) {
		uint64_t x, y;

		if (isdigit((unsigned char)a.p[0]) && isdigit((unsigned char)b.p[0])) {
			if (!str_take_uint(&a, &x) || !str_take_uint(&b, &y))
				break;
			if (x != y)
				return x < y ? -1 : 1;
			continue;
		}
		if (a.p[0] != b.p[0])
			break;
		a = str_skip(a, 1);
		b = str_skip(b, 1);
	}
	return str_cmp(a, b);
}

int rotation_cmp(struct str a, struct str b)
{
	struct rotation x, y;
	int r;

	if (str_eq(a, b))
		return 0;
	rotation_of(a, &x);
	rotation_of(b, &y);
	r = strcmp(x.log, y.log);
	if (!r)
		r = (int)x.age - (int)y.age;
	if (!r)
		r = cmp_dates(x.date, y.date);
	if (!r && x.number != y.number)
		r = (x.number < y.number) == (x.age == ROTATION_DATED) ? -1 : 1;
	return r ? r : str_cmp(a, b);
}

int rotation_cmp_paths(struct str a, struct str b)
{
	while (a.n && b.n) {
		size_t x = str_find_char(a, '/'), y = str_find_char(b, '/');
		int r = rotation_cmp(str_head(a, x), str_head(b, y));

		if (r)
			return r;
		a = str_skip(a, x + 1);
		b = str_skip(b, y + 1);
	}
	return (a.n > 0) - (b.n > 0);
}
