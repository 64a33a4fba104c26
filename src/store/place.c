#include "store/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "store/db.h"

/*
 * The partial file carries the process id, so that two writers never share one, and is locked with
 * flock. A writer that was killed leaves its file without a lock: whoever next writes to the same
 * place finds it so and removes it. The lock, unlike the process id, is also right between
 * containers that share a directory.
 */

#define PARTIAL ".partial-"

static char *join(const char *a, const char *b, const char *c)
{
	struct buf out = { 0 };

	buf_fmt(&out, "%s%s%s", a, b, c);
	return out.p;
}

static char *dir_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct buf out = { 0 };

	if (!slash)
		buf_add(&out, STR("."));
	else
		buf_add(&out, (struct str){ path, slash == path ? 1 : (size_t)(slash - path) });
	buf_char(&out, 0);
	return out.p;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* What already stands there is replaced only if it is a run, or nothing. */
static int check_target(const char *path, struct error *err)
{
	cleanup(close_fd) int fd = -1;
	char head[128];
	struct stat st;
	ssize_t n;

	if (stat(path, &st) < 0)
		return errno == ENOENT ? 0
				       : error_set(err, errno, "cannot write '%s': %s", path,
						   strerror(errno));
	if (S_ISDIR(st.st_mode))
		return error_set(err, EISDIR, "cannot write '%s': it is a directory", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, EINVAL, "cannot write '%s': it is not a regular file", path);
	if (!st.st_size)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, errno, "cannot write '%s': %s", path, strerror(errno));
	n = read(fd, head, sizeof(head));
	if (n > 0 && db_is_head((struct str){ head, (size_t)n }))
		return 0;
	return error_set(err, EEXIST,
			 "'%s' exists and is not a run file: remove it or name another file", path);
}

static void remove_if_stale(const char *path)
{
	cleanup(close_fd) int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
		unlink(path);
}

/* Only what open_partial would write: "12345" or "12345-6". */
static bool is_partial(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);

	return !strncmp(name, prefix, n) && name[n] && !name[n + strspn(name + n, "0123456789-")];
}

static void remove_stale(const char *path)
{
	char *dir = dir_of(path), *prefix = join(base_of(path), PARTIAL, "");
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char *child;

		if (!is_partial(e->d_name, prefix))
			continue;
		child = join(dir, "/", e->d_name);
		remove_if_stale(child);
		free(child);
	}
	if (d)
		closedir(d);
	free(dir);
	free(prefix);
}

/* False when someone took the file for stale between our two steps. A file system without locks
 * refuses otherwise, and then nobody takes anything for stale. */
static bool lock_partial(int fd)
{
	struct stat st;

	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno != EWOULDBLOCK;
	return !fstat(fd, &st) && st.st_nlink;
}

static int open_partial(struct place *p, const char *path, struct error *err)
{
	for (int i = 0; i < 1000; i++) {
		struct buf name = { 0 };

		buf_fmt(&name, "%s" PARTIAL "%ld", p->path, (long)getpid());
		if (i)
			buf_fmt(&name, "-%d", i);
		p->fd = open(name.p, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (p->fd >= 0 && lock_partial(p->fd)) {
			p->partial = name.p;
			return 0;
		}
		buf_done(&name);
		if (p->fd >= 0)
			close(p->fd);
		else if (errno != EEXIST)
			return error_set(err, errno, "cannot write '%s': %s", path,
					 strerror(errno));
	}
	return error_set(err, EEXIST, "cannot write '%s': too many others do", path);
}

int place_create(struct place *p, const char *path, struct error *err)
{
	struct place made = { .fd = -1 };
	char real[PATH_MAX];
	int r = check_target(path, err);

	if (r)
		return r;
	made.path = join(realpath(path, real) ? real : path, "", "");
	remove_stale(made.path);
	r = open_partial(&made, path, err);
	if (r)
		free(made.path);
	else
		*p = made;
	return r;
}

/* One piece, where the system cannot do it by itself. */
static ssize_t copy_piece(int from, loff_t *at, int to, loff_t *put)
{
	char piece[65536];
	ssize_t n = pread(from, piece, sizeof(piece), *at);

	if (n > 0)
		n = pwrite(to, piece, (size_t)n, *put);
	if (n > 0) {
		*at += n;
		*put += n;
	}
	return n;
}

/* Both from their first byte on; neither has its place in the file moved. */
static int copy_bytes(int from, int to, struct error *err)
{
	loff_t at = 0, put = 0;
	bool is_slow = false;
	ssize_t n = 1;

	while (n > 0) {
		n = is_slow ? copy_piece(from, &at, to, &put)
			    : copy_file_range(from, &at, to, &put, (size_t)1 << 30, 0);
		if (n < 0 && (errno == EINTR || !is_slow)) {
			is_slow |= errno != EINTR;
			n = 1;
		}
	}
	return n < 0 ? error_set(err, errno, "cannot copy the run so far: %s", strerror(errno)) : 0;
}

int place_branch(struct place *p, struct error *err)
{
	struct place own = { .path = p->path, .fd = -1 };
	int r;

	remove_stale(p->path); /* of a child that was killed */
	r = open_partial(&own, p->path, err);
	if (r)
		return r;
	r = copy_bytes(p->fd, own.fd, err);
	if (!r) {
		*p = own;
		return 0;
	}
	unlink(own.partial);
	free(own.partial);
	close(own.fd);
	return r;
}

static int sync_dir(const char *path, struct error *err)
{
	char *dir = dir_of(path);
	cleanup(close_fd) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	free(dir);
	/* some file systems cannot sync a directory and say EINVAL; then there is nothing to do */
	if (fd >= 0 && fsync(fd) < 0 && errno != EINVAL && errno != EROFS)
		return error_set(err, errno, "cannot sync the directory of '%s': %s", path,
				 strerror(errno));
	return 0;
}

int place_finish(struct place *p, struct error *err)
{
	if (!p->partial)
		return 0;
	if (fsync(p->fd) < 0 || rename(p->partial, p->path) < 0)
		return error_set(err, errno, "cannot write '%s': %s", p->path, strerror(errno));
	free(p->partial);
	p->partial = NULL;
	return sync_dir(p->path, err);
}

void place_done(struct place *p)
{
	if (p->partial)
		unlink(p->partial);
	if (p->path)
		close(p->fd);
	free(p->partial);
	free(p->path);
	*p = (struct place){ 0 };
}

static char *scratch_dir(const struct place *p)
{
	const char *tmp = getenv("TMPDIR");

	if (p->path)
		return dir_of(p->path);
	return join(tmp && *tmp ? tmp : "/tmp", "", "");
}

int place_scratch(const struct place *p, struct error *err)
{
	char *dir = scratch_dir(p), *name = NULL;
	int fd = open(dir, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

	if (fd < 0) { /* a file system without O_TMPFILE */
		name = join(dir, "/", ".culprit-XXXXXX");
		fd = mkostemp(name, O_CLOEXEC);
		if (fd >= 0)
			unlink(name);
	}
	if (fd < 0)
		fd = error_set(err, errno, "cannot make a temporary file in '%s': %s", dir,
			       strerror(errno));
	free(name);
	free(dir);
	return fd;
}
