/* What was taken and what is kept are two places, so that a failure to keep takes nothing away. */
#include "host/tail.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/tail_search.h"
#include "model/loss.h"

#define CHUNK_BYTES ((size_t)16 << 10)  /* what is made of it fits into one message */
#define EVENT_BYTES ((size_t)128 << 10) /* of one event, all lines: cut beyond */
#define OVER_MAX 1024                   /* files that are over and still known */

struct tail *tail_new(const struct tail_options *o)
{
	struct tail *t = mem_zalloc(sizeof(*t));

	t->o = *o;
	t->bytes = mem_alloc(EVENT_BYTES);
	return t;
}

void tail_free(struct tail *t)
{
	vec_each (&t->files, f)
		tail_file_free(*f);
	vec_done(&t->files);
	map_done(&t->unreadable);
	free(t->bytes);
	free(t);
}

size_t tail_nr(const struct tail *t)
{
	size_t nr = 0;

	vec_each (&t->files, f)
		nr += !(*f)->is_over;
	return nr;
}
/* Whole lines of what was read; all of it at the end of a file that is over. */
static size_t whole_of(struct str bytes, bool is_over)
{
	const char *end = bytes.n ? memrchr(bytes.p, '\n', bytes.n) : NULL;

	if (is_over)
		return bytes.n;
	return end ? (size_t)(end - bytes.p) + 1 : 0;
}

/* The rest of a line that was cut. */
static size_t skip_line(struct tail_file *f, struct str bytes)
{
	size_t end = str_find_char(bytes, '\n');

	f->is_skipping = end == bytes.n;
	return f->is_skipping ? bytes.n : end + 1;
}

/* Of bytes from the place of the file; is_all: there are no more. How many were used. */
static size_t take_some(struct tail *t, struct tail_file *f, struct str bytes, bool is_all,
			int64_t now)
{
	const struct tail_log log = { f->name, f->path, f->is_packed ? -1 : f->fd };
	bool is_over = is_all && f->is_rotated && now - f->grew >= t->o.close_ns;
	bool is_whole =
		is_over || bytes.n == EVENT_BYTES || (is_all && now - f->grew >= t->o.rest_ns);
	size_t n = whole_of(bytes, is_over), used;

	if (f->is_skipping)
		return skip_line(f, bytes);
	if (!n && bytes.n == EVENT_BYTES) {
		t->o.losses->count[LOSS_LINES_CUT]++;
		f->is_skipping = true;
		n = bytes.n;
	}
	if (!n)
		return 0;
	used = t->o.take(t->o.ctx, &log, str_head(bytes, n), is_whole);
	return is_whole || used > n ? n : used;
}

static int read_on(struct tail *t, struct tail_file *f, int64_t now)
{
	size_t want = CHUNK_BYTES;

	for (;;) {
		ssize_t n = tail_file_read(f, t->bytes, want);
		bool is_all = n < (ssize_t)want;
		size_t used;
		int r;

		if (n <= 0)
			return 0;
		used = take_some(t, f, (struct str){ t->bytes, (size_t)n }, is_all, now);
		f->at += used;
		f->is_moved |= used > 0;
		if (!used && is_all)
			return 0;
		if (!used && want < EVENT_BYTES) {
			want *= 2;
			continue;
		}
		r = t->o.pause(t->o.ctx);
		if (r < 0)
			return r;
		want = CHUNK_BYTES;
	}
}

/* What has become of the file since the last look. */
static void look_at(struct tail *t, struct tail_file *f, int64_t now)
{
	struct stat st;
	uint64_t size;
	bool has_changed;

	if (fstat(f->fd, &st))
		return;
	size = (uint64_t)st.st_size;
	has_changed = size != f->size || tail_file_mtime(&st) != f->mtime_ns;
	if (!f->is_packed && (size < f->at || (has_changed && f->nr_mark &&
					       !tail_file_begins_same(f, f->fd, false)))) {
		tail_was_cut(t, f, size);
		f->grew = now;
	}
	if (size != f->size || f->grew == TAIL_UNSEEN)
		f->grew = now;
	f->size = size;
	f->mtime_ns = tail_file_mtime(&st);
	tail_file_mark(f);
	if (!f->is_rotated &&
	    (stat(f->path, &st) || st.st_ino != f->ino || (uint64_t)st.st_dev != f->dev)) {
		tail_was_rotated(t, f);
		f->grew = now;
	}
}

static int poll_one(struct tail *t, struct tail_file *f, int64_t now)
{
	bool may_be_over;
	int r;

	if (f->is_over)
		return 0;
	if (f->fd < 0 && tail_file_open(f, f->path) < 0)
		return 0;
	look_at(t, f, now);
	may_be_over = f->is_rotated && now - f->grew >= t->o.close_ns;
	if (!may_be_over && !f->is_packed && (f->at == f->size || f->rested == f->size))
		return 0;
	r = read_on(t, f, now);
	if (r < 0)
		return r;
	/* tried when all that could be taken was: until it grows there is nothing more to take */
	f->rested = now - f->grew >= t->o.rest_ns ? f->size : UINT64_MAX;
	if (may_be_over) {
		f->is_over = true;
		f->is_moved = true;
	}
	return 0;
}

/* The oldest of those that are over are forgotten when they are many, and those that were not
 * found again at once. */
static void forget_some(struct tail *t)
{
	size_t nr_over = 0, to = 0;

	vec_each (&t->files, f)
		nr_over += (*f)->is_over;
	for (size_t i = 0; i < t->files.nr; i++) {
		struct tail_file *f = t->files.v[i];

		if (f->is_over && !f->is_moved && (nr_over > OVER_MAX || f->is_gone)) {
			tail_file_free(f);
			nr_over--;
		} else {
			t->files.v[to++] = f;
		}
	}
	t->files.nr = to;
}

int tail_poll(struct tail *t, int64_t now)
{
	tail_look_for_all(t);
	forget_some(t);
	for (size_t i = 0; i < t->files.nr; i++) {
		int r = poll_one(t, t->files.v[i], now);

		if (r < 0)
			return r;
	}
	return 0;
}

bool tail_has_moved(const struct tail *t)
{
	vec_each (&t->files, f)
		if ((*f)->is_moved)
			return true;
	return false;
}

void tail_notes(const struct tail *t, bool all, void (*note)(void *ctx, struct str note), void *ctx)
{
	struct buf b = { 0 };

	vec_each (&t->files, f) {
		if (!all && !(*f)->is_moved)
			continue;
		buf_clear(&b);
		tail_file_note(*f, &b);
		note(ctx, buf_str(&b));
	}
	buf_done(&b);
}

void tail_keep(struct tail *t)
{
	vec_each (&t->files, f) {
		(*f)->offset = (*f)->at;
		(*f)->is_moved = false;
		if ((*f)->is_over)
			tail_file_shut(*f);
	}
}

void tail_back(struct tail *t)
{
	vec_each (&t->files, f) {
		if ((*f)->at != (*f)->offset)
			(*f)->is_over = false;
		(*f)->at = (*f)->offset;
		(*f)->rested = UINT64_MAX;
	}
}
