/*
 * Imports are found line by line in sources, as they are written nearly always: "import a.b, c as
 * d" and "from .a import b". Those in comments do no harm, and those that are computed are not
 * found. A package brings its __init__, and what is imported from a module may be a module itself.
 */
#include "program/python_modules.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/names.h"
#include "base/vec.h"
#include "model/loss.h"

enum { MODULES_MAX = 8192, PATH_BYTES = 4096 };
#define SOURCE_MAX ((off_t)16 << 20)

/* A source that is still to be read, and the package that it is in: a folder. */
struct source {
	struct str path, package;
};

struct walk {
	const struct python_modules *m;
	struct names seen; /* paths of sources */
	VEC(struct source) waiting;
	bool is_full;
};

static bool is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

static struct str folder_of(struct str path)
{
	const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;

	return slash ? str_head(path, (size_t)(slash - path.p)) : STR(".");
}

/* "dir/__pycache__/mod.cpython-311.pyc" of "dir/mod.py"; of several versions always the same. */
static bool find_compiled(struct str source, char *to, size_t room)
{
	struct str folder = folder_of(source), name = str_skip(source, folder.n + 1);
	char cache[PATH_BYTES], best[256] = "";
	struct dirent *e;
	DIR *dir;

	name = str_head(name, name.n > 3 ? name.n - 3 : 0);
	snprintf(cache, sizeof(cache), STR_FMT "/__pycache__", STR_ARG(folder));
	dir = name.n ? opendir(cache) : NULL;
	while (dir && (e = readdir(dir))) {
		struct str file = str_of(e->d_name);

		if (str_take(&file, name) && str_take_char(&file, '.') &&
		    str_eq(str_skip(file, str_find_char(file, '.')), STR(".pyc")) &&
		    strcmp(e->d_name, best) > 0)
			snprintf(best, sizeof(best), "%s", e->d_name);
	}
	if (dir)
		closedir(dir);
	snprintf(to, room, "%s/%s", cache, best);
	return best[0];
}

/* A source, to be told and read once. */
static void add_source(struct walk *w, struct str path, struct str package)
{
	char compiled[2 * PATH_BYTES];
	sym_t before = w->seen.nr, sym;

	if (w->seen.nr > MODULES_MAX) {
		w->m->losses->count[LOSS_PROGRAMS_BROKEN] += !w->is_full;
		w->is_full = true;
		return;
	}
	sym = names_add(&w->seen, path);
	if (sym < before)
		return;
	path = names_str(&w->seen, sym);
	vec_push(&w->waiting, (struct source){ path, arena_str(&w->seen.arena, package) });
	if (find_compiled(path, compiled, sizeof(compiled)))
		w->m->each(w->m->ctx, compiled);
	else
		w->m->each(w->m->ctx, arena_z(&w->seen.arena, path));
}

/* The module of one name within a folder: a package, a source, or a compiled file alone. */
static bool add_module(struct walk *w, struct str folder, struct str name, char *package)
{
	char path[PATH_BYTES];

	snprintf(package, PATH_BYTES, STR_FMT "/" STR_FMT, STR_ARG(folder), STR_ARG(name));
	snprintf(path, sizeof(path), "%.4000s/__init__.py", package);
	if (is_file(path)) {
		add_source(w, str_of(path), str_of(package));
		return true;
	}
	snprintf(path, sizeof(path), "%.4000s.py", package);
	if (is_file(path)) {
		add_source(w, str_of(path), folder);
		return true;
	}
	snprintf(path, sizeof(path), "%.4000s.pyc", package);
	if (is_file(path))
		w->m->each(w->m->ctx, path);
	return false;
}

/* "a.b.c" from a folder on, each package on the way; *last is the folder of what it names. */
static bool add_dotted(struct walk *w, struct str folder, struct str dotted, char *last)
{
	char at[PATH_BYTES];
	bool is_found = false;

	snprintf(at, sizeof(at), STR_FMT, STR_ARG(folder));
	while (dotted.n) {
		size_t n = str_find_char(dotted, '.');

		if (!add_module(w, str_of(at), str_head(dotted, n), last))
			break;
		is_found = true;
		snprintf(at, sizeof(at), "%s", last);
		dotted = str_skip(dotted, n + 1);
	}
	return is_found;
}

static bool add_absolute(struct walk *w, struct str dotted, char *last)
{
	for (size_t i = 0; i < w->m->nr_folders; i++)
		if (add_dotted(w, str_of(w->m->folders[i]), dotted, last))
			return true;
	return false;
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || (unsigned char)c >= 0x80;
}

static struct str take_dotted(struct str *s)
{
	struct str name;
	size_t n = 0;

	str_take_spaces(s);
	while (n < s->n && (is_name(s->p[n]) || s->p[n] == '.'))
		n++;
	name = str_head(*s, n);
	*s = str_skip(*s, n);
	str_take_spaces(s);
	return name;
}

/* "a.b as c, d" */
static void add_imports(struct walk *w, struct str s)
{
	char last[PATH_BYTES];

	do {
		struct str name = take_dotted(&s);

		if (!name.n)
			return;
		add_absolute(w, name, last);
		if (str_take(&s, STR("as ")))
			take_dotted(&s);
	} while (str_take_char(&s, ','));
}

/* "from .a.b import c, (d as e," within a package: each dot but the first goes one folder up. */
static void add_from(struct walk *w, struct str s, struct str package)
{
	struct str name = take_dotted(&s), folder = package;
	char last[PATH_BYTES], inner[PATH_BYTES];
	bool is_relative = str_take_char(&name, '.');

	if (!str_take(&s, STR("import")))
		return;
	while (is_relative && str_take_char(&name, '.'))
		folder = folder_of(folder);
	snprintf(last, sizeof(last), STR_FMT, STR_ARG(folder));
	if (name.n &&
	    !(is_relative ? add_dotted(w, folder, name, last) : add_absolute(w, name, last)))
		return;
	do {
		str_take_spaces(&s);
		str_take_char(&s, '(');
		name = take_dotted(&s);
		if (name.n && str_find_char(name, '.') == name.n)
			add_module(w, str_of(last), name, inner);
		if (str_take(&s, STR("as ")))
			take_dotted(&s);
	} while (name.n && str_take_char(&s, ','));
}

static void read_imports(struct walk *w, struct source from)
{
	char path[PATH_BYTES];
	cleanup(close_fd) int fd = -1;
	struct buf b = { 0 };
	struct str rest, line;
	struct stat st;
	ssize_t n;

	snprintf(path, sizeof(path), STR_FMT, STR_ARG(from.path));
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size > SOURCE_MAX)
		return;
	while (b.n < (size_t)st.st_size &&
	       (n = read(fd, buf_room(&b, (size_t)st.st_size - b.n), (size_t)st.st_size - b.n)) > 0)
		b.n += (size_t)n;
	rest = buf_str(&b);
	while (str_take_line(&rest, &line)) {
		str_take_spaces(&line);
		if (str_take(&line, STR("import ")))
			add_imports(w, line);
		else if (str_take(&line, STR("from ")))
			add_from(w, line, from.package);
	}
	buf_done(&b);
}

static void follow_imports(struct walk *w)
{
	for (size_t i = 0; i < w->waiting.nr; i++)
		read_imports(w, w->waiting.v[i]);
	vec_done(&w->waiting);
	names_done(&w->seen);
}

void python_modules_of_script(const struct python_modules *m, const char *script)
{
	struct walk w = { .m = m };

	add_source(&w, str_of(script), folder_of(str_of(script)));
	follow_imports(&w);
}

void python_modules_of_module(const struct python_modules *m, struct str name)
{
	struct walk w = { .m = m };
	char last[PATH_BYTES], inner[PATH_BYTES];

	/* a package is run by its __main__ */
	if (add_absolute(&w, name, last))
		add_module(&w, str_of(last), STR("__main__"), inner);
	follow_imports(&w);
}
