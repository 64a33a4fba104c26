/*
 * Rotation and compression add endings to a name; they are taken off again until none is left, so
 * that all files of one log are of one node. A name that says nothing by itself ("syslog",
 * "stdout") is told apart by its directory.
 */
#include "source/nodename.h"

#include <ctype.h>

#include "base/arena.h"
#include "source/rotation.h"

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

static struct str stem_of(struct str name)
{
	struct str before, suffix;

	do {
		before = name;
		name = rotation_strip(without_ending(name), &suffix);
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
