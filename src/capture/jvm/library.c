/*
 * A JVM in a container sees other files than we do, and one of another user may not read ours. Then
 * it is given a copy in its /tmp, of its own user, that nobody may write. The name tells the
 * content, so that it is there once however often we come; a file of that name is taken only if it
 * is a copy that nobody but the JVM's user or root could have changed.
 */
#include "capture/jvm/library.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "capture/jvm/as_user.h"
#include "capture/jvm/target.h"

#define COPY ".culprit-jvm-"
#define NR_NAMES 16 /* tried, when files that are no copies are in the way */

static bool is_file(const char *path)
{
	struct stat s;

	return !stat(path, &s) && S_ISREG(s.st_mode);
}

int jvm_library_find(char *path, size_t room, struct error *err)
{
	/* from build/src/cli and build/tests/unit; from PREFIX/bin */
	static const char *const places[] = { "../../agent/jvm", "../lib/culprit" };
	const char *told = getenv("CULPRIT_JVM_AGENT");
	char self[4096], where[4224];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (told && *told) {
		if (!is_file(told) || !realpath(told, self))
			return error_set(err, ENOENT, "CULPRIT_JVM_AGENT is no file: '%s'", told);
		return snprintf(path, room, "%s", self) < (int)room ? 0 : -ENAMETOOLONG;
	}
	self[n < 0 ? 0 : n] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char real[4096];

		snprintf(where, sizeof(where), "%s/%s/" JVM_LIBRARY, self, places[i]);
		if (is_file(where) && realpath(where, real) &&
		    snprintf(path, room, "%s", real) < (int)room)
			return 0;
	}
	return error_set(err, ENOENT,
			 JVM_LIBRARY " is neither in %s/%s nor in %s/%s; CULPRIT_JVM_AGENT may "
				     "name it",
			 self, places[0], self, places[1]);
}

static int read_library(const char *path, struct buf *content, struct error *err)
{
	cleanup(fclose) FILE *f = fopen(path, "re");
	size_t n;

	if (!f)
		return error_set(err, errno, "cannot open '%s': %s", path, strerror(errno));
	while ((n = fread(buf_room(content, 65536), 1, 65536, f)))
		content->n += n;
	return ferror(f) ? error_set(err, EIO, "cannot read '%s'", path) : 0;
}

static int open_to_read(const void *how)
{
	int fd = open(how, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static bool can_read(const struct jvm_target *t, const char *path)
{
	int fd = as_user(t->uid, t->gid, open_to_read, path);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool has_content(int fd, struct str content)
{
	char bytes[16384];
	ssize_t n;

	while ((n = read(fd, bytes, sizeof(bytes))) > 0) {
		if ((size_t)n > content.n || memcmp(bytes, content.p, (size_t)n))
			return false;
		content = str_skip(content, (size_t)n);
	}
	return !n && !content.n;
}

/* Whether the file is our copy, and can be trusted to stay so. */
static bool is_copy(const struct jvm_target *t, int tmp, const char *name, struct str content)
{
	cleanup(close_fd) int fd =
		openat(tmp, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat s;

	return fd >= 0 && !fstat(fd, &s) && S_ISREG(s.st_mode) && !(s.st_mode & 0222) &&
	       (s.st_uid == t->uid || !s.st_uid) && has_content(fd, content);
}

static int fill(const struct jvm_target *t, int fd, struct str content)
{
	while (content.n) {
		ssize_t n = write(fd, content.p, content.n);

		if (n < 0 && errno != EINTR)
			return -errno;
		content = str_skip(content, n < 0 ? 0 : (size_t)n);
	}
	if (t->uid != geteuid() && fchown(fd, t->uid, t->gid) < 0)
		return -errno;
	return fchmod(fd, 0555) < 0 ? -errno : 0;
}

/* Written under another name, so that whoever sees the right one sees all of it. */
static int make_copy(const struct jvm_target *t, int tmp, const char *name, struct str content)
{
	char part[96];
	int fd, got;

	snprintf(part, sizeof(part), "%s.%d", name, (int)getpid());
	fd = openat(tmp, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	got = fill(t, fd, content);
	close(fd);
	if (!got && renameat2(tmp, part, tmp, name, RENAME_NOREPLACE) < 0)
		got = -errno;
	if (got < 0)
		unlinkat(tmp, part, 0);
	return got;
}

static int copy_inside(const struct jvm_target *t, struct str content, char *path, size_t room,
		       struct error *err)
{
	uint64_t hash = str_hash(content);
	cleanup(close_fd) int tmp = jvm_open_inside(t->pid, "/tmp", O_RDONLY | O_DIRECTORY);
	int got = tmp < 0 ? tmp : -EEXIST;

	for (int i = 0; i < NR_NAMES && got == -EEXIST; i++) {
		char name[64];

		snprintf(name, sizeof(name), COPY "%016llx-%d.so", (unsigned long long)hash, i);
		if (is_copy(t, tmp, name, content))
			got = 0;
		else
			got = make_copy(t, tmp, name, content);
		if (!got && snprintf(path, room, "/tmp/%s", name) >= (int)room)
			got = -ENAMETOOLONG;
	}
	if (got < 0)
		return error_set(err, -got,
				 "cannot copy " JVM_LIBRARY " into /tmp of the JVM %d: %s", t->pid,
				 strerror(-got));
	return 0;
}

int jvm_library_for(int pid, char *path, size_t room, struct error *err)
{
	struct buf content = { 0 };
	struct jvm_target t;
	char ours[4096];
	int got = jvm_target_read(pid, &t, err);

	if (got >= 0)
		got = jvm_library_find(ours, sizeof(ours), err);
	if (got < 0)
		return got;
	if (jvm_sees_our_files(pid) && can_read(&t, ours)) {
		if (snprintf(path, room, "%s", ours) < (int)room)
			return 0;
		return error_set(err, ENAMETOOLONG, "the path of " JVM_LIBRARY " is too long");
	}
	got = read_library(ours, &content, err);
	if (got >= 0)
		got = copy_inside(&t, buf_str(&content), path, room, err);
	buf_done(&content);
	return got;
}

bool jvm_library_is(struct str mapped)
{
	const char *told = getenv("CULPRIT_JVM_AGENT");
	size_t at = mapped.n;

	while (at && mapped.p[at - 1] != '/')
		at--;
	if (told && *told && str_eq(mapped, str_of(told)))
		return true;
	mapped = str_skip(mapped, at);
	return str_eq(mapped, STR(JVM_LIBRARY)) || str_starts(mapped, STR(COPY));
}

bool jvm_library_in(int pid, char *path, size_t room)
{
	struct buf maps = { 0 };
	struct str rest, line;
	bool is_found = false;

	if (!jvm_proc_read(pid, "maps", &maps)) {
		rest = buf_str(&maps);
		while (!is_found && str_take_line(&rest, &line)) {
			line = str_skip(line, str_find_char(line, '/'));
			is_found = jvm_library_is(line);
		}
		if (is_found)
			snprintf(path, room, STR_FMT, STR_ARG(line));
	}
	buf_done(&maps);
	return is_found;
}
