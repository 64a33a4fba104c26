/*
 *	agent                  the name of this agent
 *	lock
 *	0000000000000001.places    what is known in front of message 1
 *	0000000000000001.spool     messages 1, 2 … one a line
 *	00000000000000a7.places    made before its spool, and then the older ones are removed
 *	00000000000000a7.spool
 *
 * Recovery takes the newest places and the notes of all whole messages from there on. A message
 * that was cut by a crash has no valid sum: it counts as not written, and what it held is read from
 * the logs again. Each start begins a file, so that nothing is ever written behind a cut one.
 */
#include "host/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/vec.h"
#include "model/mention_pack.h"
#include "model/mention_wire.h"

#define AGENT_BYTES 16
#define FILE_MAX ((uint64_t)1 << 30) /* no file of ours is larger */

struct segment {
	uint64_t first; /* message */
	uint64_t inode, bytes;
	uint64_t whole; /* bytes of whole messages */
};

struct spool {
	struct spool_options o;
	char *dir_name;
	int dir, lock, fd; /* fd: the file that is written, -1 for none */
	char agent[2 * AGENT_BYTES + 1];
	uint64_t next;
	VEC(struct segment) segments; /* the oldest first */
};

static void name_of(char name[32], uint64_t first, const char *kind)
{
	snprintf(name, 32, "%016" PRIx64 ".%s", first, kind);
}

/* "<16 digits>.<kind>" */
static bool is_named(const char *name, const char *kind, uint64_t *first)
{
	struct str s = str_of(name);

	return s.n > 17 && s.p[16] == '.' && !strcmp(name + 17, kind) && str_take_hex(&s, first) &&
	       s.p == name + 16;
}

static int read_file(struct spool *s, const char *name, struct buf *b, struct error *err)
{
	cleanup(close_fd) int fd = openat(s->dir, name, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return error_set(err, errno, "cannot read '%s/%s': %s", s->dir_name, name,
				 strerror(errno));
	if ((uint64_t)st.st_size > FILE_MAX)
		return error_set(err, EFBIG, "'%s/%s' is not of ours", s->dir_name, name);
	for (;;) {
		ssize_t n = read(fd, buf_room(b, 1 << 16), 1 << 16);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(err, errno, "cannot read '%s/%s': %s", s->dir_name, name,
					 strerror(errno));
		if (!n)
			return 0;
		b->n += (size_t)n;
	}
}

static int write_all(int fd, struct str s)
{
	while (s.n) {
		ssize_t n = write(fd, s.p, s.n);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			s = str_skip(s, (size_t)n);
	}
	return 0;
}

static int sync_directory(const struct spool *s)
{
	return s->dir >= 0 ? fsync(s->dir) : -1;
}

/* A file that is there whole and synced, or not at all. */
static int put_file(struct spool *s, const char *name, struct str bytes, struct error *err)
{
	char temporary[48];
	int fd, r;

	snprintf(temporary, sizeof(temporary), "%s.new", name);
	fd = openat(s->dir, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	r = fd < 0 ? -errno : write_all(fd, bytes);
	if (fd >= 0 && r >= 0 && fsync(fd))
		r = -errno;
	if (fd >= 0)
		close(fd);
	if (r >= 0 && (renameat(s->dir, temporary, s->dir, name) || sync_directory(s)))
		r = -errno;
	if (r < 0)
		return error_set(err, -r, "cannot write '%s/%s': %s", s->dir_name, name,
				 strerror(-r));
	return 0;
}

/* All of them on the way. */
static int make_directories(const char *dir, struct error *err)
{
	char path[PATH_MAX];
	size_t n = strlen(dir);

	if (n >= sizeof(path))
		return error_set(err, ENAMETOOLONG, "'%s' is too long", dir);
	for (size_t i = 1; i <= n; i++) {
		if (dir[i] && dir[i] != '/')
			continue;
		memcpy(path, dir, i);
		path[i] = 0;
		if (mkdir(path, 0700) && errno != EEXIST)
			return error_set(err, errno, "cannot make the folder '%s': %s", path,
					 strerror(errno));
	}
	return 0;
}

static int open_directory(struct spool *s, struct error *err)
{
	int r = make_directories(s->o.dir, err);

	if (r < 0)
		return r;
	s->dir = open(s->o.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir >= 0)
		s->lock = openat(s->dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (s->dir < 0 || s->lock < 0)
		return error_set(err, errno, "cannot open the folder '%s': %s", s->o.dir,
				 strerror(errno));
	if (flock(s->lock, LOCK_EX | LOCK_NB))
		return error_set(err, EBUSY, "another agent works in '%s'", s->o.dir);
	return 0;
}

static int find_agent(struct spool *s, struct error *err)
{
	unsigned char bytes[AGENT_BYTES];
	struct buf b = { 0 };
	int r = faccessat(s->dir, "agent", F_OK, 0) ? 0 : read_file(s, "agent", &b, err);

	if (r >= 0 && b.n == 2 * AGENT_BYTES) {
		memcpy(s->agent, b.p, b.n);
	} else if (r >= 0) {
		if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
			r = error_set(err, EIO, "the system gives no random bytes");
		for (size_t i = 0; i < sizeof(bytes); i++)
			snprintf(s->agent + 2 * i, 3, "%02x", bytes[i]);
		if (r >= 0)
			r = put_file(s, "agent", str_of(s->agent), err);
	}
	buf_done(&b);
	return r;
}

static int by_first(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* *places: the newest, 0 for none. */
static int list(struct spool *s, uint64_t *places, struct error *err)
{
	int fd = dup(s->dir);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return error_set(err, errno, "cannot read the folder '%s': %s", s->o.dir,
				 strerror(errno));
	}
	rewinddir(d);
	while ((e = readdir(d))) {
		struct segment seg = { 0 };
		struct stat st;

		if (is_named(e->d_name, "places", &seg.first) && seg.first > *places)
			*places = seg.first;
		if (!is_named(e->d_name, "spool", &seg.first) || fstatat(s->dir, e->d_name, &st, 0))
			continue;
		seg.inode = st.st_ino;
		seg.bytes = (uint64_t)st.st_size;
		vec_push(&s->segments, seg);
	}
	closedir(d);
	if (s->segments.nr)
		qsort(s->segments.v, s->segments.nr, sizeof(*s->segments.v), by_first);
	return 0;
}

/* What a segment holds: how much of it is whole, the number behind its last message, its notes. */
static int recall_segment(struct spool *s, struct segment *seg, const struct spool_recall *recall,
			  bool has_notes, struct error *err)
{
	struct arena arena = { 0 };
	struct buf b = { 0 };
	struct str rest, line, body, note;
	struct wire_head head;
	char name[32];
	int r;

	name_of(name, seg->first, "spool");
	r = read_file(s, name, &b, err);
	rest = buf_str(&b);
	while (r >= 0 && str_take_until(&rest, '\n', &line)) {
		seg->whole = (uint64_t)(rest.p - b.p);
		if (wire_read(line, &arena, &head, &body) != 1)
			continue;
		if (head.seq >= s->next)
			s->next = head.seq + 1;
		while (has_notes && mention_take_note(&body, &arena, &note))
			recall->note(recall->ctx, note);
		arena_reset(&arena);
	}
	buf_done(&b);
	arena_done(&arena);
	return r;
}

static int recall_places(struct spool *s, uint64_t places, const struct spool_recall *recall,
			 struct error *err)
{
	struct buf b = { 0 };
	struct str rest, line;
	char name[32];
	int r;

	if (!places)
		return 0;
	name_of(name, places, "places");
	r = read_file(s, name, &b, err);
	rest = buf_str(&b);
	while (r >= 0 && str_take_line(&rest, &line))
		recall->note(recall->ctx, line);
	buf_done(&b);
	if (s->next < places)
		s->next = places;
	return r;
}

static int find_all(struct spool *s, const struct spool_recall *recall, struct error *err)
{
	uint64_t places = 0;
	int r = list(s, &places, err);

	if (r >= 0)
		r = recall_places(s, places, recall, err);
	for (size_t i = 0; i < s->segments.nr && r >= 0; i++)
		r = recall_segment(s, &s->segments.v[i], recall, s->segments.v[i].first >= places,
				   err);
	return r;
}

int spool_open(struct spool **out, const struct spool_options *o, const struct spool_recall *recall,
	       struct error *err)
{
	struct spool *s = mem_zalloc(sizeof(*s));
	int r;

	*s = (struct spool){ .o = *o, .dir = -1, .lock = -1, .fd = -1, .next = 1 };
	s->dir_name = strdup(o->dir);
	s->o.dir = s->dir_name;
	r = open_directory(s, err);
	if (r < 0 || s->dir < 0) {
		spool_close(s);
		return r;
	}
	r = find_agent(s, err);
	if (r >= 0)
		r = find_all(s, recall, err);
	if (r < 0)
		spool_close(s);
	else
		*out = s;
	return r;
}

void spool_close(struct spool *s)
{
	cleanup_close_fd(&s->fd);
	cleanup_close_fd(&s->lock);
	cleanup_close_fd(&s->dir);
	vec_done(&s->segments);
	free(s->dir_name);
	free(s);
}

struct str spool_agent(const struct spool *s)
{
	return str_of(s->agent);
}

uint64_t spool_next(const struct spool *s)
{
	return s->next;
}

uint64_t spool_bytes(const struct spool *s)
{
	uint64_t bytes = 0;

	vec_each (&s->segments, seg)
		bytes += seg->bytes;
	return bytes;
}

bool spool_is_full(const struct spool *s)
{
	return s->fd < 0 || s->segments.v[s->segments.nr - 1].bytes >= s->o.segment_bytes;
}

/* Those in front of the newest are not needed any more. */
static void remove_places(struct spool *s, uint64_t newest)
{
	int fd = dup(s->dir);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	uint64_t first;

	if (!d)
		return;
	rewinddir(d);
	while ((e = readdir(d)))
		if (is_named(e->d_name, "places", &first) && first < newest)
			unlinkat(s->dir, e->d_name, 0);
	closedir(d);
}

int spool_begin(struct spool *s, struct str notes, struct error *err)
{
	struct segment seg = { .first = s->next };
	struct stat st;
	char name[32];
	int r;

	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	name_of(name, seg.first, "places");
	r = put_file(s, name, notes, err);
	if (r < 0)
		return r;
	/* one of that name holds nothing that is whole: its messages would have been counted */
	if (s->segments.nr && s->segments.v[s->segments.nr - 1].first == seg.first)
		s->segments.nr--;
	name_of(name, seg.first, "spool");
	unlinkat(s->dir, name, 0);
	s->fd = openat(s->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
	if (s->fd < 0 || fstat(s->fd, &st) || sync_directory(s)) {
		r = error_set(err, errno, "cannot make '%s/%s': %s", s->dir_name, name,
			      strerror(errno));
		cleanup_close_fd(&s->fd);
		s->fd = -1;
		return r;
	}
	seg.inode = st.st_ino;
	vec_push(&s->segments, seg);
	remove_places(s, seg.first);
	return 0;
}

int spool_append(struct spool *s, struct str message, struct error *err)
{
	struct segment *seg;
	struct buf line = { 0 };
	int r;

	if (s->fd < 0)
		return error_set(err, EINVAL, "no file of the spool was begun");
	seg = &s->segments.v[s->segments.nr - 1];
	buf_add(&line, message);
	buf_char(&line, '\n');
	r = write_all(s->fd, buf_str(&line));
	/* Written but not synced is as good as sent: it may be out already. Nothing is written
	 * behind a message that is cut. */
	if (r < 0 || fdatasync(s->fd)) {
		close(s->fd);
		s->fd = -1;
	}
	if (r < 0) {
		buf_done(&line);
		return error_set(err, -r, "cannot write to '%s': %s", s->dir_name, strerror(-r));
	}
	seg->bytes += line.n;
	seg->whole = seg->bytes;
	s->next++;
	buf_done(&line);
	return 0;
}

bool spool_is_taken(const struct spool *s, uint64_t (*taken)(void *ctx, uint64_t inode), void *ctx)
{
	vec_each (&s->segments, seg)
		if (taken(ctx, seg->inode) < seg->whole)
			return false;
	return true;
}

/* Messages of the segment within its first bytes; counting ends with the limit. */
static uint64_t count_messages(struct spool *s, const struct segment *seg, uint64_t bytes,
			       uint64_t limit)
{
	struct error err;
	struct buf b = { 0 };
	struct str rest, line;
	uint64_t nr = 0;
	char name[32];

	name_of(name, seg->first, "spool");
	if (bytes && read_file(s, name, &b, &err) < 0)
		bytes = 0;
	rest = str_head(buf_str(&b), bytes);
	while (nr < limit && str_take_until(&rest, '\n', &line))
		nr++;
	buf_done(&b);
	return nr;
}

static void remove_first(struct spool *s)
{
	char name[32];

	name_of(name, s->segments.v[0].first, "spool");
	unlinkat(s->dir, name, 0);
	s->segments.nr--;
	memmove(s->segments.v, s->segments.v + 1, s->segments.nr * sizeof(*s->segments.v));
}

/* Whether so much was taken behind the first segment that all of it must be there. */
static bool is_there(struct spool *s, const struct spool_ack *ack)
{
	uint64_t nr = 0;

	if (ack->taken(ack->ctx, s->segments.v[0].inode) < s->segments.v[0].whole)
		return false;
	for (size_t i = 1; i < s->segments.nr && nr <= ack->window; i++)
		nr += count_messages(s, &s->segments.v[i],
				     ack->taken(ack->ctx, s->segments.v[i].inode),
				     ack->window + 1 - nr);
	return nr > ack->window;
}

uint64_t spool_trim(struct spool *s, const struct spool_ack *ack)
{
	uint64_t lost = 0;

	while (s->segments.nr > 1 && is_there(s, ack))
		remove_first(s);
	while (s->segments.nr > 1 && spool_bytes(s) > s->o.max_bytes) {
		const struct segment *seg = &s->segments.v[0];
		uint64_t all = count_messages(s, seg, seg->whole, UINT64_MAX);
		uint64_t taken = ack->taken(ack->ctx, seg->inode);

		lost += all - count_messages(s, seg, taken < seg->whole ? taken : seg->whole, all);
		remove_first(s);
	}
	return lost;
}
