/*
 * Files of records, each: length (4 bytes), a hash of kind and bytes (8), kind (1), bytes. A record
 * that was cut by a crash does not fit its hash and ends its file.
 */
#include "hub/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"

#define HEAD_BYTES 13
#define RECORD_MAX ((uint32_t)64 << 20)

struct journal {
	struct journal_options o;
	char *dir_name;
	int dir, lock, fd;
	uint64_t bytes;         /* of the file that is written */
	uint64_t older_bytes;   /* of those before it */
	VEC(uint64_t) segments; /* numbers, in order */
	uint64_t nr_gone;
	bool wants_summary;
	int read_fd; /* of the file that was read last */
	uint64_t read_segment;
};

static void name_of(char name[40], uint64_t nr)
{
	snprintf(name, 40, "%016" PRIx64 ".journal", nr);
}

static int fail(struct journal *j, struct error *err, const char *what)
{
	int code = errno;

	return error_set(err, code, "cannot %s the journal in '%s': %s", what, j->dir_name,
			 strerror(code));
}

static int open_directory(struct journal *j, struct error *err)
{
	if (mkdir(j->dir_name, 0700) && errno != EEXIST)
		return fail(j, err, "make");
	j->dir = open(j->dir_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (j->dir < 0)
		return fail(j, err, "open");
	j->lock = openat(j->dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (j->lock < 0)
		return fail(j, err, "lock");
	if (flock(j->lock, LOCK_EX | LOCK_NB))
		return error_set(err, EBUSY, "another hub works in '%s'", j->dir_name);
	return 0;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int list(struct journal *j, struct error *err)
{
	int fd = dup(j->dir);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		cleanup_close_fd(&fd);
		return fail(j, err, "read");
	}
	rewinddir(d);
	while ((e = readdir(d))) {
		struct str s = str_of(e->d_name);
		struct stat st;
		uint64_t nr;

		if (s.n != 24 || !str_ends(s, STR(".journal")) || !str_take_hex(&s, &nr) ||
		    s.n != 8 || fstatat(j->dir, e->d_name, &st, 0))
			continue;
		vec_push(&j->segments, nr);
		j->older_bytes += (uint64_t)st.st_size;
	}
	closedir(d);
	if (j->segments.nr)
		qsort(j->segments.v, j->segments.nr, sizeof(*j->segments.v), by_number);
	return 0;
}

/* Each start begins a file, so that nothing stands behind a record that was cut. */
static int begin(struct journal *j, struct error *err)
{
	uint64_t nr = j->segments.nr ? j->segments.v[j->segments.nr - 1] + 1 : 1;
	char name[40];
	int fd;

	name_of(name, nr);
	fd = openat(j->dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || fsync(j->dir)) {
		int r = fail(j, err, "begin a file of");

		cleanup_close_fd(&fd);
		return r;
	}
	cleanup_close_fd(&j->fd);
	j->fd = fd;
	j->older_bytes += j->bytes;
	j->bytes = 0;
	vec_push(&j->segments, nr);
	j->wants_summary = true;
	return 0;
}

int journal_open(struct journal **out, const struct journal_options *o, struct error *err)
{
	struct journal *j = mem_zalloc(sizeof(*j));
	int r;

	*j = (struct journal){ .o = *o, .dir = -1, .lock = -1, .fd = -1, .read_fd = -1 };
	j->dir_name = strdup(o->dir);
	r = open_directory(j, err);
	if (r < 0 || j->dir < 0) {
		journal_close(j);
		return r;
	}
	r = list(j, err);
	if (r >= 0)
		r = begin(j, err);
	if (r < 0)
		journal_close(j);
	else
		*out = j;
	return r;
}

void journal_close(struct journal *j)
{
	cleanup_close_fd(&j->read_fd);
	cleanup_close_fd(&j->fd);
	cleanup_close_fd(&j->lock);
	cleanup_close_fd(&j->dir);
	vec_done(&j->segments);
	free(j->dir_name);
	free(j);
}

static void limit(struct journal *j)
{
	while (j->segments.nr > 1 && j->older_bytes + j->bytes > j->o.max_bytes) {
		struct stat st;
		char name[40];

		name_of(name, j->segments.v[0]);
		if (!fstatat(j->dir, name, &st, 0))
			j->older_bytes -= (uint64_t)st.st_size < j->older_bytes
						  ? (uint64_t)st.st_size
						  : j->older_bytes;
		unlinkat(j->dir, name, 0);
		j->segments.nr--;
		memmove(j->segments.v, j->segments.v + 1, j->segments.nr * sizeof(*j->segments.v));
		j->nr_gone++;
	}
}

static uint64_t sum_of(char kind, struct str bytes)
{
	return str_hash(bytes) * 31 + (unsigned char)kind;
}

static int write_all(int fd, struct str s, off_t at)
{
	while (s.n) {
		ssize_t n = pwrite(fd, s.p, s.n, at);

		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0) {
			s = str_skip(s, (size_t)n);
			at += n;
		}
	}
	return 0;
}

int journal_append(struct journal *j, char kind, struct str bytes, bool is_synced,
		   struct error *err)
{
	struct buf record = { 0 };
	uint32_t n = (uint32_t)bytes.n;
	uint64_t sum = sum_of(kind, bytes);
	int r = 0;

	if (bytes.n > RECORD_MAX)
		return error_set(err, EMSGSIZE, "a record of %zu bytes is too long", bytes.n);
	buf_add(&record, (struct str){ (const char *)&n, sizeof(n) });
	buf_add(&record, (struct str){ (const char *)&sum, sizeof(sum) });
	buf_char(&record, kind);
	buf_add(&record, bytes);
	if (write_all(j->fd, buf_str(&record), (off_t)j->bytes) ||
	    (is_synced && fdatasync(j->fd))) {
		r = fail(j, err, "write");
		/* what is there of it is written over by the next */
		if (ftruncate(j->fd, (off_t)j->bytes))
			r = fail(j, err, "write");
	} else {
		j->bytes += record.n;
		if (kind == JOURNAL_SUMMARY)
			j->wants_summary = false;
	}
	buf_done(&record);
	/* the record is there, whether or not there is room for another file */
	if (r >= 0 && j->bytes > j->o.segment_bytes && begin(j, NULL) >= 0)
		limit(j);
	return r;
}

bool journal_wants_summary(const struct journal *j)
{
	return j->wants_summary;
}

uint64_t journal_nr_gone(const struct journal *j)
{
	return j->nr_gone;
}

/* The first file that is not in front of the place; false when there is none. */
static bool find_segment(const struct journal *j, struct journal_place *at)
{
	vec_each (&j->segments, nr) {
		if (*nr < at->segment)
			continue;
		if (*nr > at->segment)
			*at = (struct journal_place){ *nr, 0 };
		return true;
	}
	return false;
}

static int open_segment(struct journal *j, uint64_t nr)
{
	char name[40];

	if (j->read_fd >= 0 && j->read_segment == nr)
		return 0;
	cleanup_close_fd(&j->read_fd);
	name_of(name, nr);
	j->read_fd = openat(j->dir, name, O_RDONLY | O_CLOEXEC);
	j->read_segment = nr;
	return j->read_fd < 0 ? -1 : 0;
}

static bool read_exactly(int fd, void *to, size_t n, uint64_t at)
{
	return pread(fd, to, n, (off_t)at) == (ssize_t)n;
}

/* Whether a whole record stands there. */
static bool read_record(struct journal *j, uint64_t offset, char *kind, struct buf *bytes)
{
	char head[HEAD_BYTES];
	uint32_t n;
	uint64_t sum;

	if (!read_exactly(j->read_fd, head, sizeof(head), offset))
		return false;
	memcpy(&n, head, sizeof(n));
	memcpy(&sum, head + sizeof(n), sizeof(sum));
	*kind = head[HEAD_BYTES - 1];
	if (n > RECORD_MAX)
		return false;
	buf_clear(bytes);
	if (!read_exactly(j->read_fd, buf_room(bytes, n + 1), n, offset + HEAD_BYTES))
		return false;
	bytes->n = n;
	return sum_of(*kind, buf_str(bytes)) == sum;
}

int journal_next(struct journal *j, struct journal_place *at, char *kind, struct buf *bytes,
		 struct error *err)
{
	while (find_segment(j, at)) {
		bool is_last = at->segment == j->segments.v[j->segments.nr - 1];

		if (open_segment(j, at->segment) < 0)
			return fail(j, err, "read");
		if ((!is_last || at->offset < j->bytes) &&
		    read_record(j, at->offset, kind, bytes)) {
			at->offset += HEAD_BYTES + bytes->n;
			return 1;
		}
		if (is_last)
			return 0;
		*at = (struct journal_place){ at->segment + 1, 0 };
	}
	return 0;
}
