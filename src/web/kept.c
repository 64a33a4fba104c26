#include "web/kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

#define MOST 128
#define BYTES_MAX ((size_t)16 << 20)

/* Of the answers; made where it is missing. */
static int open_dir(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct buf path = { 0 };
	int fd = -1;

	if (cache && cache[0] == '/')
		buf_fmt(&path, "%s", cache);
	else if (home && home[0] == '/')
		buf_fmt(&path, "%s/.cache", home);
	if (path.n) {
		static const char *const below[] = { "", "/culprit", "/answers" };

		for (int i = 0; i < 3; i++) {
			buf_fmt(&path, "%s", below[i]);
			buf_char(&path, 0);
			mkdir(path.p, 0700);
			path.n--;
		}
		buf_char(&path, 0);
		fd = open(path.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	buf_done(&path);
	return fd;
}

static void name_of(struct str key, char *name, size_t room)
{
	snprintf(name, room, "%016llx", (unsigned long long)str_hash(key));
}

bool kept_file(const char *path, struct buf *key)
{
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	buf_fmt(key, " %llu.%llu.%llu.%lld.%ld", (unsigned long long)st.st_dev,
		(unsigned long long)st.st_ino, (unsigned long long)st.st_size,
		(long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	return true;
}

static bool read_all(int fd, struct buf *to)
{
	ssize_t n = 1;

	while (n > 0 && to->n <= BYTES_MAX) {
		n = read(fd, buf_room(to, 1 << 16), 1 << 16);
		to->n += n > 0 ? (size_t)n : 0;
	}
	return !n;
}

/* A file holds the key with its length in front, then the answer. */
bool kept_find(struct str key, struct buf *answer)
{
	cleanup(close_fd) int dir = open_dir();
	struct buf all = { 0 };
	struct str left, same;
	bool found = false;
	char name[24];
	int fd;

	name_of(key, name, sizeof(name));
	fd = dir < 0 ? -1 : openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0 && read_all(fd, &all)) {
		left = buf_str(&all);
		found = str_take_bytes(&left, &same) && str_eq(same, key);
		if (found)
			buf_add(answer, left);
	}
	if (fd >= 0)
		close(fd);
	buf_done(&all);
	return found;
}

/* Until there is room for one more. */
static void drop_oldest(int dir)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct timespec oldest = { 0 };
	char name[NAME_MAX + 1] = "";
	const struct dirent *e;
	size_t nr = 0;

	while (d && (e = readdir(d))) {
		struct stat st;

		if (e->d_name[0] == '.' || fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		nr++;
		if (!name[0] || st.st_mtim.tv_sec < oldest.tv_sec) {
			snprintf(name, sizeof(name), "%s", e->d_name);
			oldest = st.st_mtim;
		}
	}
	if (d)
		closedir(d);
	if (nr >= MOST)
		unlinkat(dir, name, 0);
}

static bool write_all(int fd, struct str s)
{
	while (s.n) {
		ssize_t n = write(fd, s.p, s.n);

		if (n < 0 && errno != EINTR)
			return false;
		s = str_skip(s, n > 0 ? (size_t)n : 0);
	}
	return true;
}

void kept_put(struct str key, struct str answer)
{
	cleanup(close_fd) int dir = open_dir();
	struct buf head = { 0 };
	char name[24], partial[48];
	bool ok;
	int fd;

	if (dir < 0 || answer.n > BYTES_MAX)
		return;
	drop_oldest(dir);
	name_of(key, name, sizeof(name));
	snprintf(partial, sizeof(partial), ".%s.%ld", name, (long)getpid());
	fd = openat(dir, partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return;
	buf_bytes(&head, key);
	ok = write_all(fd, buf_str(&head)) && write_all(fd, answer);
	close(fd);
	if (!ok || renameat(dir, partial, dir, name))
		unlinkat(dir, partial, 0);
	buf_done(&head);
}
