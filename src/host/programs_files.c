/*
 * What the system shows of a process (proc(5)): maps names the files that are mapped, cmdline and
 * environ say what it was started with, fd what it has open. A path is as the process sees it, so
 * all are looked at below its root; those that are relative, below its working directory.
 */
#include "host/programs.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/names.h"
#include "base/vec.h"
#include "program/python_modules.h"

enum {
	TEXT_MAX = 4 << 20, /* of what is read of /proc */
	FOLDERS_MAX = 64,
};

struct process {
	char dir[128]; /* in proc */
	struct names seen;
	void (*each)(void *ctx, const char *path);
	void *ctx;
	struct losses *losses;
	struct buf maps, cmdline, environ;
	struct str executable; /* its path */
};

/* What a file of /proc says; their size is told by reading only. */
static void read_text(const struct process *p, const char *name, struct buf *b)
{
	char path[PATH_MAX];
	cleanup(close_fd) int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && b->n < TEXT_MAX && (n = read(fd, buf_room(b, 65536), 65536)) > 0)
		b->n += (size_t)n;
}

/* Where a link of /proc leads; empty when nothing is told. */
static struct str read_link(struct process *p, const char *name)
{
	char path[PATH_MAX], to[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	n = readlink(path, to, sizeof(to));
	return n > 0 ? arena_str(&p->seen.arena, (struct str){ to, (size_t)n }) : STR("");
}

/* A path as the process sees it, as we can open it. */
static struct str path_from_here(struct process *p, struct str path)
{
	const char *below = path.n && path.p[0] == '/' ? "root" : "cwd/";

	return arena_fmt(&p->seen.arena, "%s/%s" STR_FMT, p->dir, below, STR_ARG(path));
}

static void tell(struct process *p, struct str path)
{
	sym_t before = p->seen.nr;

	if (names_add(&p->seen, path) >= before)
		p->each(p->ctx, arena_z(&p->seen.arena, path));
}

static bool ends_like_jar(struct str s)
{
	return str_ends(s, STR(".jar")) || str_ends(s, STR(".war")) || str_ends(s, STR(".ear")) ||
	       str_ends(s, STR(".class"));
}

/* The next file that is mapped; the same one may come several times. */
static bool take_mapped(struct str *maps, struct str *path)
{
	struct str line;

	while (str_take_line(maps, &line)) {
		*path = str_skip(line, str_find_char(line, '/'));
		if (path->n && !str_ends(*path, STR(" (deleted)")))
			return true;
	}
	return false;
}

static bool is_mapped(const struct process *p, const char *name)
{
	struct str maps = buf_str(&p->maps), path;

	while (take_mapped(&maps, &path))
		if (str_find(path, str_of(name)) < path.n)
			return true;
	return false;
}

/* Arguments and variables end with a zero byte. */
static bool take_argument(struct str *s, struct str *argument)
{
	size_t n = str_find_char(*s, '\0');

	if (!s->n)
		return false;
	*argument = str_head(*s, n);
	*s = str_skip(*s, n + 1);
	return true;
}

static struct str variable(const struct process *p, struct str name)
{
	struct str rest = buf_str(&p->environ), v;

	while (take_argument(&rest, &v))
		if (str_take(&v, name) && str_take_char(&v, '='))
			return v;
	return STR("");
}

/* --- of C, C++, Go, Rust -------------------------------------------------------------------- */

static void tell_mapped(struct process *p)
{
	struct str maps = buf_str(&p->maps), line;

	tell(p, arena_fmt(&p->seen.arena, "%s/exe", p->dir));
	while (str_take_line(&maps, &line)) {
		struct str path = str_skip(line, str_find_char(line, '/')), file;

		/* code only: what else is mapped is data */
		if (!path.n || str_find(line, STR("r-xp")) == line.n ||
		    str_eq(path, p->executable) || str_ends(path, STR(" (deleted)")))
			continue;
		file = path_from_here(p, path);
		tell(p, file);
	}
}

/* --- of a JVM ------------------------------------------------------------------------------- */

/* "lib/\*" is every jar in the folder. */
static void tell_jars_of(struct process *p, struct str folder)
{
	char *path = arena_z(&p->seen.arena, path_from_here(p, folder));
	DIR *dir = opendir(path);
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (str_ends(str_of(e->d_name), STR(".jar")))
			tell(p, arena_fmt(&p->seen.arena, "%s/%s", path, e->d_name));
	if (dir)
		closedir(dir);
}

static void tell_class_path(struct process *p, struct str list)
{
	while (list.n) {
		size_t n = str_find_char(list, ':');
		struct str entry = str_head(list, n);

		if (str_eq(entry, STR("*")) || str_ends(entry, STR("/*")))
			tell_jars_of(p, str_head(entry, entry.n - 1));
		else if (entry.n)
			tell(p, path_from_here(p, entry));
		list = str_skip(list, n + 1);
	}
}

static void tell_open_jars(struct process *p)
{
	char path[sizeof(p->dir) + 8], link[300];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/fd", p->dir);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		struct str to;

		snprintf(link, sizeof(link), "fd/%s", e->d_name);
		to = read_link(p, link);
		if (ends_like_jar(to))
			tell(p, path_from_here(p, to));
	}
	if (dir)
		closedir(dir);
}

static void tell_jvm(struct process *p)
{
	struct str rest = buf_str(&p->cmdline), maps = buf_str(&p->maps), v = STR("");

	take_argument(&rest, &v); /* the launcher */
	while (take_argument(&rest, &v)) {
		if (str_eq(v, STR("-cp")) || str_eq(v, STR("-classpath")) ||
		    str_eq(v, STR("--class-path"))) {
			if (take_argument(&rest, &v))
				tell_class_path(p, v);
		} else if (str_take(&v, STR("--class-path=")) ||
			   str_take(&v, STR("-Djava.class.path="))) {
			tell_class_path(p, v);
		} else if (str_eq(v, STR("-jar"))) {
			if (take_argument(&rest, &v))
				tell(p, path_from_here(p, v));
		}
	}
	tell_class_path(p, variable(p, STR("CLASSPATH")));
	tell_open_jars(p);
	while (take_mapped(&maps, &v))
		if (ends_like_jar(v))
			tell(p, path_from_here(p, v));
}

/* --- of Python ------------------------------------------------------------------------------ */

struct folders {
	const char *v[FOLDERS_MAX];
	size_t nr;
};

static void add_folder(struct process *p, struct folders *f, struct str path)
{
	char *folder = arena_z(&p->seen.arena, path);
	struct stat st;

	for (size_t i = 0; i < f->nr; i++)
		if (!strcmp(f->v[i], folder))
			return;
	if (f->nr < FOLDERS_MAX && !stat(folder, &st) && S_ISDIR(st.st_mode))
		f->v[f->nr++] = folder;
}

/* The folder of a library is what stands in front of and with "/python3.11/" in a mapped path. */
static void add_library(struct process *p, struct folders *f, struct str path)
{
	size_t at = str_find(path, STR("/lib/python3")), end;
	struct str library;

	if (at == path.n)
		return;
	end = at + 5;
	end += str_find_char(str_skip(path, end), '/');
	library = path_from_here(p, str_head(path, end));
	add_folder(p, f, library);
	for (int i = 0; i < 2; i++)
		add_folder(p, f,
			   arena_fmt(&p->seen.arena, STR_FMT "/%s", STR_ARG(library),
				     i ? "dist-packages" : "site-packages"));
	/* where distributions put what all versions share */
	add_folder(p, f,
		   path_from_here(p, arena_fmt(&p->seen.arena, STR_FMT "/python3/dist-packages",
					       STR_ARG(str_head(path, at + 4)))));
}

static void find_folders(struct process *p, struct folders *f)
{
	struct str list = variable(p, STR("PYTHONPATH")), maps = buf_str(&p->maps), path;

	while (list.n) {
		size_t n = str_find_char(list, ':');

		if (n)
			add_folder(p, f, path_from_here(p, str_head(list, n)));
		list = str_skip(list, n + 1);
	}
	while (take_mapped(&maps, &path))
		add_library(p, f, path);
	/* an interpreter without modules of its own that are mapped: ../lib beside bin */
	path = p->executable;
	if (str_find(path, STR("/bin/python3")) < path.n)
		add_library(p, f,
			    arena_fmt(&p->seen.arena, STR_FMT "/lib/" STR_FMT "/",
				      STR_ARG(str_head(path, str_find(path, STR("/bin/")))),
				      STR_ARG(str_skip(path, str_find(path, STR("/bin/")) + 5))));
}

static void tell_module(void *ctx, const char *path)
{
	tell(ctx, str_of(path));
}

/* python [options] script, or -m module; after -c there is no file. */
static void tell_python(struct process *p)
{
	struct folders f = { 0 };
	struct str rest = buf_str(&p->cmdline), v = STR(""), script;
	struct python_modules m = { f.v, 0, tell_module, p, p->losses };

	take_argument(&rest, &v);
	while (take_argument(&rest, &v) && v.n > 1 && v.p[0] == '-' && !str_eq(v, STR("-m"))) {
		if (str_eq(v, STR("-c")))
			return;
		if (str_eq(v, STR("-W")) || str_eq(v, STR("-X")))
			take_argument(&rest, &v);
	}
	if (str_eq(v, STR("-m"))) {
		if (!take_argument(&rest, &v))
			return;
		add_folder(p, &f, path_from_here(p, STR(".")));
		find_folders(p, &f);
		m.nr_folders = f.nr;
		python_modules_of_module(&m, v);
	} else if (v.n) {
		const char *slash;

		script = path_from_here(p, v);
		slash = memrchr(script.p, '/', script.n);
		add_folder(p, &f, str_head(script, (size_t)(slash - script.p)));
		find_folders(p, &f);
		m.nr_folders = f.nr;
		python_modules_of_script(&m, arena_z(&p->seen.arena, script));
	}
}

void programs_files(const char *proc, pid_t pid, void (*each)(void *ctx, const char *path),
		    void *ctx, struct losses *losses)
{
	struct process p = { .each = each, .ctx = ctx, .losses = losses };
	struct str name;

	snprintf(p.dir, sizeof(p.dir), "%.90s/%d", proc, (int)pid);
	read_text(&p, "maps", &p.maps);
	read_text(&p, "cmdline", &p.cmdline);
	read_text(&p, "environ", &p.environ);
	p.executable = read_link(&p, "exe");
	name = str_skip(p.executable, str_find(p.executable, STR("/python")));
	if (is_mapped(&p, "/libjvm.so"))
		tell_jvm(&p);
	else if (str_starts(name, STR("/python")) || is_mapped(&p, "/libpython"))
		tell_python(&p);
	else
		tell_mapped(&p);
	buf_done(&p.maps);
	buf_done(&p.cmdline);
	buf_done(&p.environ);
	names_done(&p.seen);
}
