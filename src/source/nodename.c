/*
 * Rotation and compression add endings to a name; they are taken off again until none is left, so
 * that all files of one log are of one node. A name that says nothing by itself ("syslog",
 * "stdout") is told apart by its directory.
 */
#include "source/nodename.h"

#include <ctype.h>

#include "base/arena.h"

static const char *const endings[] = {
	".gz",   ".xz",    ".zst",    ".log", ".out", ".txt", ".err",
	".json", ".jsonl", ".ndjson", ".bz2", ".old", ".bak",
};

static const char *const generic[] = {
	"syslog",    "messages", "stdout",  "stderr",   "app",     "application", "server",
	"output",    "out",      "access",  "error",    "errors",  "system",      "log",
	"logs",      "main",     "debug",   "info",     "warn",    "daemon",      "kern",
	"auth",      "service",  "console", "catalina", "current", "journal",     "access_log",
	"error_log", "json",     "trace",   "gc",
};

static bool is_one_of(struct str s, const char *const *words, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (str_eq_nocase(s, str_of(words[i])))
			return true;
	return false;
}

/* A name of digits only ("0.log" of a container) says nothing either. */
static bool is_generic(struct str stem)
{
	size_t digits = 0;

	while (digits < stem.n && isdigit((unsigned char)stem.p[digits]))
		digits++;
	return digits == stem.n || is_one_of(stem, generic, sizeof(generic) / sizeof(*generic));
}

static struct str without_ending(struct str s)
{
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		struct str e = str_of(endings[i]);

		if (s.n > e.n && str_eq_nocase(str_skip(s, s.n - e.n), e))
			return str_head(s, s.n - e.n);
	}
	return s;
}

/* "20240101", "2024-01-01", either with an hour or more behind it: "2024-01-01T10". */
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
	return s.n <= sizeof("T10-20-30") - 1;
}

/* A date behind any sign or, behind a dot, a small number (.1). */
static struct str without_rotation(struct str s)
{
	for (size_t at = s.n; at-- > 1;) {
		struct str tail = str_skip(s, at + 1);
		uint64_t number;

		if (!strchr(".-_", s.p[at]))
			continue;
		if (is_date(tail))
			return str_head(s, at);
		if (s.p[at] == '.' && tail.n <= 3 && str_take_uint(&tail, &number) && !tail.n)
			return str_head(s, at);
	}
	return s;
}

static struct str stem_of(struct str name)
{
	struct str before;

	do {
		before = name;
		name = without_rotation(without_ending(name));
	} while (name.n && name.n < before.n);
	return name.n ? name : before;
}

/* What follows the last slash; *path becomes what is before it. */
static struct str take_last(struct str *path)
{
	struct str name;
	size_t at;

	while (path->n && path->p[path->n - 1] == '/')
		path->n--;
	for (at = path->n; at && path->p[at - 1] != '/';)
		at--;
	name = str_skip(*path, at);
	path->n = at;
	return name;
}

struct str nodename_of_path(struct arena *a, struct str path)
{
	struct str stem, parent;

	if (str_eq(path, STR("-")))
		return STR("stdin");
	stem = stem_of(take_last(&path));
	if (!is_generic(stem))
		return arena_str(a, stem);
	do
		parent = take_last(&path);
	while (parent.n && (is_generic(parent) || str_eq(parent, STR("."))) && path.n);
	if (!parent.n || str_eq(parent, STR(".")) || str_eq(parent, STR("..")))
		return arena_str(a, stem);
	return arena_fmt(a, STR_FMT "/" STR_FMT, STR_ARG(parent), STR_ARG(stem));
}
