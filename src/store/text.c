#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/inflate.h"
#include "base/time.h"
#include "store/run.h"

/*
 * Raw lines stay in the files that they came from. A few of those are kept open: a plain file is
 * read anywhere; a compressed one only forwards, so its reader stays where it is and asking in
 * ascending order costs one pass.
 */

enum { NR_OPEN = 8 };

struct text_file {
	uint32_t number; /* 0: free */
	int fd;
	struct inflate *z; /* NULL: plain */
	uint64_t at;       /* bytes that z has given */
	uint64_t used;     /* when, to close the one that rested longest */
};

struct texts {
	struct text_file v[NR_OPEN];
	uint64_t clock;
};

static void text_close(struct text_file *f)
{
	if (!f->number)
		return;
	inflate_free(f->z);
	close(f->fd);
	*f = (struct text_file){ 0 };
}

void texts_free(struct texts *t)
{
	if (!t)
		return;
	for (int i = 0; i < NR_OPEN; i++)
		text_close(&t->v[i]);
	free(t);
}

/* As it was read, or with more behind it: a log that is written on. */
static bool is_same(int fd, const struct stat *st, const struct file_seen *seen)
{
	if (!S_ISREG(st->st_mode))
		return false;
	if ((uint64_t)st->st_size == seen->bytes &&
	    st->st_mtim.tv_sec * NS_S + st->st_mtim.tv_nsec == seen->mtime_ns)
		return true;
	return seen->mark && (uint64_t)st->st_size > seen->bytes &&
	       sink_mark(fd, seen->bytes) == seen->mark;
}

/* The file under either of its names, if it is still the one that was read. */
static int open_same(struct catalog *c, const struct catalog_file *file, struct error *err)
{
	const struct str names[] = { file->f.seen.path, file->absolute };
	const struct file_seen *seen = &file->f.seen;
	bool changed = false;

	for (int i = 0; i < 2; i++) {
		char *path = arena_z(&c->arena, names[i]);
		int fd = names[i].n ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
		struct stat st;

		if (fd < 0)
			continue;
		if (!fstat(fd, &st) && is_same(fd, &st, seen))
			return fd;
		changed = true;
		close(fd);
	}
	return error_set(err, changed ? ESTALE : ENOENT,
			 "'" STR_FMT "' %s, so its lines cannot be shown", STR_ARG(seen->path),
			 changed ? "has changed since it was read" : "is gone");
}

static int text_open(struct store *s, struct text_file *f, uint32_t number, struct error *err)
{
	struct catalog_file *file = catalog_file(&s->catalog, number);
	struct inflate *z = NULL;
	int fd, r;

	if (!file)
		return error_set(err, ENOENT, "the event came from no file");
	if (str_eq(file->f.seen.path, STR("-")))
		return error_set(err, ENOENT,
				 "lines from standard input are not kept, so they cannot be shown");
	fd = open_same(&s->catalog, file, err);
	if (fd < 0)
		return fd;
	r = inflate_of_fd(&z, fd, err);
	if (r) {
		close(fd);
		return r;
	}
	if (inflate_is_plain(z)) {
		inflate_free(z);
		z = NULL;
	}
	*f = (struct text_file){ .number = number, .fd = fd, .z = z };
	return 0;
}

static int text_find(struct store *s, const struct event *ev, struct text_file **found,
		     struct error *err)
{
	struct text_file *f, *oldest;

	if (!s->texts)
		s->texts = mem_zalloc(sizeof(*s->texts));
	oldest = f = s->texts->v;
	for (; f < s->texts->v + NR_OPEN && f->number != ev->file; f++)
		if (f->used < oldest->used)
			oldest = f;
	if (f == s->texts->v + NR_OPEN || !f->number)
		f = oldest;
	if (f->number != ev->file || !f->number || (f->z && f->at > ev->offset)) {
		int r;

		text_close(f);
		r = text_open(s, f, ev->file, err);
		if (r)
			return r;
	}
	f->used = ++s->texts->clock;
	*found = f;
	return 0;
}

/* Up to n bytes from where the file stands, after `to` if it is given. */
static ssize_t text_step(struct text_file *f, uint64_t offset, char *to, size_t n,
			 struct error *err)
{
	ssize_t got;

	if (!f->z) {
		got = pread(f->fd, to, n, (off_t)offset);
		return got < 0 ? error_set(err, errno, "cannot read a log file again: %s",
					   strerror(errno))
			       : got;
	}
	got = inflate_read(f->z, to, n, err);
	if (got > 0)
		f->at += (uint64_t)got;
	return got;
}

static int text_skip(struct text_file *f, uint64_t offset, struct error *err)
{
	char away[16384];

	while (f->z && f->at < offset) {
		uint64_t n = offset - f->at;
		ssize_t got = text_step(f, f->at, away, n < sizeof(away) ? n : sizeof(away), err);

		if (got <= 0)
			return got ? (int)got
				   : error_set(err, ESTALE, "a log file has become shorter");
	}
	return 0;
}

int store_event_text(struct store *s, const struct event *ev, struct buf *text, struct error *err)
{
	struct text_file *f;
	uint64_t done = 0;

	if (ev->text.n) {
		buf_add(text, ev->text);
		return 1;
	}
	if (!ev->length) {
		error_set(err, ENOENT, "the event has no raw text");
		return 0;
	}
	if (ev->offset > INT64_MAX || text_find(s, ev, &f, err) || text_skip(f, ev->offset, err))
		return 0;
	while (done < ev->length) {
		uint64_t n = ev->length - done;
		size_t room = n < 65536 ? n : 65536;
		ssize_t got = text_step(f, ev->offset + done, buf_room(text, room), room, err);

		if (got <= 0) {
			text->n -= done;
			if (!got)
				error_set(err, ESTALE, "a log file has become shorter");
			return 0;
		}
		text->n += (size_t)got;
		done += (uint64_t)got;
	}
	/* blank lines behind it are lines of the event, but nothing to show */
	while (done-- && (text->p[text->n - 1] == '\n' || text->p[text->n - 1] == '\r'))
		text->n--;
	return 1;
}
