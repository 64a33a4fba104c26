#include "host/tail_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/inflate.h"
#include "base/mem.h"
#include "base/time.h"
#include "model/mention_pack.h"
#include "source/rotation.h"

struct tail_file *tail_file_new(const char *path, const char *name)
{
	struct tail_file *f = mem_zalloc(sizeof(*f));

	f->name = strdup(name);
	f->kept_ns = INT64_MIN;
	f->fd = -1;
	tail_file_rename(f, path);
	return f;
}

void tail_file_rename(struct tail_file *f, const char *path)
{
	struct buf log = { 0 };
	char *own = strdup(path);

	rotation_log(&log, str_of(path));
	buf_char(&log, 0);
	free(f->path);
	free(f->log);
	f->path = own;
	f->log = log.p;
}

void tail_file_shut(struct tail_file *f)
{
	if (f->z)
		inflate_free(f->z);
	f->z = NULL;
	f->z_at = 0;
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

void tail_file_free(struct tail_file *f)
{
	tail_file_shut(f);
	free(f->path);
	free(f->name);
	free(f->log);
	free(f);
}

int64_t tail_file_mtime(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * NS_S + st->st_mtim.tv_nsec;
}

/* The first bytes as they read; how many. */
static size_t read_head(int fd, bool is_packed, char *head, size_t n)
{
	struct inflate *z = NULL;
	struct error err;
	size_t got = 0;
	ssize_t more;

	if (!is_packed) {
		more = pread(fd, head, n, 0);
		return more > 0 ? (size_t)more : 0;
	}
	if (lseek(fd, 0, SEEK_SET) || inflate_of_fd(&z, fd, &err) < 0)
		return 0;
	while (got < n && (more = inflate_read(z, head + got, n - got, &err)) > 0)
		got += (size_t)more;
	inflate_free(z);
	return got;
}

static bool is_packed(int fd)
{
	/* gzip, xz, zstd */
	static const char *const magics[] = { "\x1f\x8b", "\xfd\x37zXZ", "\x28\xb5\x2f\xfd" };
	char head[6];
	ssize_t n = pread(fd, head, sizeof(head), 0);

	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
		if (n >= (ssize_t)strlen(magics[i]) && !memcmp(head, magics[i], strlen(magics[i])))
			return true;
	return false;
}

int tail_file_open(struct tail_file *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	tail_file_shut(f);
	f->fd = fd;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	f->size = (uint64_t)st.st_size;
	f->mtime_ns = tail_file_mtime(&st);
	f->is_packed = is_packed(fd);
	f->grew = f->is_packed ? INT64_MIN / 2 : TAIL_UNSEEN;
	f->rested = UINT64_MAX;
	if (strcmp(path, f->path) != 0)
		tail_file_rename(f, path);
	return 0;
}

void tail_file_mark(struct tail_file *f)
{
	char head[TAIL_MARK_BYTES];
	size_t n;

	if (f->nr_mark == TAIL_MARK_BYTES || f->fd < 0 || (f->is_packed && f->z))
		return;
	n = read_head(f->fd, f->is_packed, head, sizeof(head));
	f->is_moved |= n != f->nr_mark;
	f->nr_mark = (uint32_t)n;
	f->mark = str_hash((struct str){ head, n });
}

bool tail_file_begins_same(const struct tail_file *f, int fd, bool packed)
{
	char head[TAIL_MARK_BYTES];

	return f->nr_mark && read_head(fd, packed, head, f->nr_mark) == f->nr_mark &&
	       str_hash((struct str){ head, f->nr_mark }) == f->mark;
}

/* To where reading goes on, from the front when that lies behind. */
static int seek_packed(struct tail_file *f)
{
	char skipped[4096];
	struct error err;

	if (f->z && f->z_at > f->at) {
		inflate_free(f->z);
		f->z = NULL;
	}
	if (!f->z) {
		f->z_at = 0;
		if (lseek(f->fd, 0, SEEK_SET) || inflate_of_fd(&f->z, f->fd, &err) < 0)
			return -EIO;
	}
	while (f->z_at < f->at) {
		uint64_t left = f->at - f->z_at;
		ssize_t n = inflate_read(f->z, skipped,
					 left < sizeof(skipped) ? left : sizeof(skipped), &err);

		if (n <= 0)
			return (int)n;
		f->z_at += (uint64_t)n;
	}
	return 1;
}

ssize_t tail_file_read(struct tail_file *f, char *to, size_t n)
{
	struct error err;
	size_t got = 0;
	ssize_t more = 1;

	if (f->fd < 0)
		return 0;
	if (f->is_packed) {
		if (seek_packed(f) <= 0)
			return 0;
		while (got < n && (more = inflate_read(f->z, to + got, n - got, &err)) > 0)
			got += (size_t)more;
		f->z_at += got;
		return (ssize_t)got;
	}
	while (got < n && more > 0) {
		more = pread(f->fd, to + got, n - got, (off_t)(f->at + got));
		if (more < 0 && errno == EINTR)
			more = 1;
		else if (more > 0)
			got += (size_t)more;
	}
	return (ssize_t)got;
}

void tail_file_note(const struct tail_file *f, struct buf *b)
{
	buf_fmt(b, "%" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx32 " %" PRIx64 " %x ",
		f->dev, f->ino, f->at, f->mark, f->nr_mark, (uint64_t)f->mtime_ns,
		(unsigned)f->is_packed | (unsigned)f->is_rotated << 1 | (unsigned)f->is_over << 2 |
			(unsigned)f->is_skipping << 3);
	mention_escape(b, str_of(f->path));
	buf_char(b, ' ');
	mention_escape(b, str_of(f->name));
}

static bool take_hex(struct str *s, uint64_t *v)
{
	return str_take_hex(s, v) && str_take_char(s, ' ');
}

struct tail_file *tail_file_of_note(struct str note)
{
	uint64_t dev, ino, at, mark, nr_mark, mtime, flags;
	struct arena arena = { 0 };
	struct tail_file *f = NULL;
	struct str path, name;

	if (take_hex(&note, &dev) && take_hex(&note, &ino) && take_hex(&note, &at) &&
	    take_hex(&note, &mark) && take_hex(&note, &nr_mark) && nr_mark <= TAIL_MARK_BYTES &&
	    take_hex(&note, &mtime) && take_hex(&note, &flags) &&
	    str_take_until(&note, ' ', &path) && mention_unescape(&arena, path, &path) &&
	    mention_unescape(&arena, note, &name)) {
		f = tail_file_new(arena_z(&arena, path), arena_z(&arena, name));
		f->dev = dev;
		f->ino = ino;
		f->at = f->offset = at;
		f->mark = mark;
		f->nr_mark = (uint32_t)nr_mark;
		f->mtime_ns = (int64_t)mtime;
		f->is_packed = flags & 1;
		f->is_rotated = flags >> 1 & 1;
		f->is_over = flags >> 2 & 1;
		f->is_skipping = flags >> 3 & 1;
		f->is_recalled = true;
	}
	arena_done(&arena);
	return f;
}
