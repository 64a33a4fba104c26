#include "host/find.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/loss.h"
#include "source/undated.h"

#define HEAD_BYTES 4096
#define KNOWN_MAX 65536 /* files whose first bytes were looked at */

enum verdict { UNKNOWN, TEXT, EMPTY, BINARY };

struct find {
	const char *proc;
	char *without;    /* as the system spells it */
	struct map known; /* file -> verdict */
	struct map told;  /* of this walk */
};

/* What one walk is about. */
struct walk {
	struct find *f;
	void (*each)(void *ctx, const struct found_log *log);
	void *ctx;
	struct losses *losses;
	pid_t pid;
	char dir[64]; /* of the process */
};

struct find *find_new(const char *proc, const char *without)
{
	struct find *f = mem_zalloc(sizeof(*f));

	f->proc = proc;
	f->without = without ? realpath(without, NULL) : NULL;
	return f;
}

void find_free(struct find *f)
{
	map_done(&f->known);
	map_done(&f->told);
	free(f->without);
	free(f);
}

static uint64_t key_of(const struct stat *st)
{
	const uint64_t both[] = { st->st_dev, st->st_ino };

	return str_hash((struct str){ (const char *)both, sizeof(both) });
}

static bool ends_with(const char *s, const char *end)
{
	return str_ends(str_of(s), str_of(end));
}

/* The name, or a directory above it. */
static bool is_named_log(const char *path, int fd)
{
	for (const char *at = path; *at; at++)
		if (!strncasecmp(at, "log", 3))
			return true;
	return (fd == STDOUT_FILENO || fd == STDERR_FILENO) &&
	       (ends_with(path, ".out") || ends_with(path, ".err"));
}

/* Whether the process may write there. */
static bool is_written(const struct walk *w, const char *fd)
{
	char path[128], text[256];
	cleanup(close_fd) int in = -1;
	ssize_t n;
	char *flags;

	snprintf(path, sizeof(path), "%s/fdinfo/%s", w->dir, fd);
	in = open(path, O_RDONLY | O_CLOEXEC);
	n = in < 0 ? 0 : read(in, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = 0;
	flags = strstr(text, "flags:");
	return flags && (strtoul(flags + 6, NULL, 8) & O_ACCMODE) != O_RDONLY;
}

/* By its first bytes. An empty file is looked at again. */
static enum verdict look(const char *path)
{
	cleanup(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char head[HEAD_BYTES];
	ssize_t n = fd < 0 ? 0 : pread(fd, head, sizeof(head), 0);

	if (n <= 0)
		return EMPTY;
	/* text may begin with bytes that nobody wrote, when it was cut under its writer */
	return undated_is_binary((struct str){ head, (size_t)n }) ? BINARY : TEXT;
}

static enum verdict verdict_of(struct find *f, const char *path, const struct stat *st,
			       struct losses *losses)
{
	uint64_t *known;

	if (f->known.nr > KNOWN_MAX)
		map_clear(&f->known);
	known = map_at(&f->known, key_of(st));
	/* another file may have the number of one that held no text */
	if (known[0] != TEXT) {
		enum verdict before = known[0];

		known[0] = look(path);
		losses->count[LOSS_LOGS_BINARY] += known[0] == BINARY && before != BINARY;
	}
	return (enum verdict)known[0];
}

bool find_is_text(struct find *f, const char *path, struct losses *losses)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) &&
	       verdict_of(f, path, &st, losses) != BINARY;
}

static bool is_same_file(const char *path, const struct stat *st)
{
	struct stat other;

	return !stat(path, &other) && other.st_ino == st->st_ino && other.st_dev == st->st_dev;
}

/* What the container calls itself; its process when it does not. */
static void container_of(const struct walk *w, char *name, size_t n)
{
	char path[128];
	FILE *in;

	snprintf(path, sizeof(path), "%s/root/etc/hostname", w->dir);
	in = fopen(path, "re");
	if (!in || !fgets(name, (int)n, in))
		snprintf(name, n, "%d", (int)w->pid);
	if (in)
		fclose(in);
	name[strcspn(name, "\r\n")] = 0;
}

/* By which path the file can be opened, and what to call it. */
static void tell(struct walk *w, const char *link, char *path, const struct stat *st)
{
	char inside[PATH_MAX + 80], name[PATH_MAX + 80], container[64];
	struct found_log log = { .path = path, .name = path, .pid = w->pid };
	const char *deleted = " (deleted)";

	if (!is_same_file(path, st)) {
		snprintf(inside, sizeof(inside), "%s/root%s", w->dir, path);
		if (is_same_file(inside, st)) {
			container_of(w, container, sizeof(container));
			snprintf(name, sizeof(name), "%s:%s", container, path);
			log.path = inside;
			log.name = name;
		} else {
			if (ends_with(path, deleted))
				path[strlen(path) - strlen(deleted)] = 0;
			log.path = link;
		}
	}
	w->each(w->ctx, &log);
}

static void look_at(struct walk *w, const char *fd)
{
	char link[128], path[PATH_MAX];
	struct stat st;
	ssize_t n;
	size_t nr_without = w->f->without ? strlen(w->f->without) : 0;

	snprintf(link, sizeof(link), "%s/fd/%s", w->dir, fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || path[0] != '/')
		return;
	path[n] = 0;
	if (!is_named_log(path, (int)strtol(fd, NULL, 10)) ||
	    (nr_without && !strncmp(path, w->f->without, nr_without) && path[nr_without] == '/'))
		return;
	if (stat(link, &st) || !S_ISREG(st.st_mode) || *map_at(&w->f->told, key_of(&st)) ||
	    !is_written(w, fd) || verdict_of(w->f, link, &st, w->losses) == BINARY)
		return;
	*map_at(&w->f->told, key_of(&st)) = 1;
	tell(w, link, path, &st);
}

static void look_at_process(struct walk *w)
{
	char path[80];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "%s/fd", w->dir);
	d = opendir(path);
	if (!d)
		return;
	while ((e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			look_at(w, e->d_name);
	closedir(d);
}

void find_logs(struct find *f, void (*each)(void *ctx, const struct found_log *log), void *ctx,
	       struct losses *losses)
{
	struct walk w = { .f = f, .each = each, .ctx = ctx, .losses = losses };
	DIR *d = opendir(f->proc);
	struct dirent *e;

	map_clear(&f->told);
	while (d && (e = readdir(d))) {
		w.pid = (pid_t)strtol(e->d_name, NULL, 10);
		if (w.pid <= 0 || w.pid == getpid())
			continue;
		snprintf(w.dir, sizeof(w.dir), "%s/%d", f->proc, (int)w.pid);
		look_at_process(&w);
	}
	if (d)
		closedir(d);
}
