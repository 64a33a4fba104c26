/*
 *	app.log.2.gz     app.log.1        app.log
 *	all read         all read         read up to here | last event, half a line
 *
 * A log is begun when its head is as long as it will ever be looked at, so that its layout is the
 * one that is found in the whole file; before that it is small, and read anew each time. The same
 * goes for what is no log. A content is known by its birth, which a copy shares: it is read on
 * under the next name, also where that is compressed.
 */
#include "source/follow_on.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/mem.h"
#include "model/event.h"
#include "model/sink.h"
#include "source/input.h"
#include "source/lines.h"
#include "source/source.h"

#define NEAR_BYTES ((size_t)64 << 10)     /* in which most events end */
#define EVENT_BYTES_MAX ((size_t)4 << 20) /* a larger one is parted */

struct follow_reading *follow_on_find(const struct follow *f, const struct followed *it)
{
	const uint64_t *nr = map_find(&f->reading_of, it->birth);

	return nr ? f->readings.v[*nr - 1] : NULL;
}

void follow_on_done(struct follow *f)
{
	vec_each (&f->readings, r) {
		logs_close(&(*r)->logs);
		free(*r);
	}
	vec_done(&f->readings);
	map_done(&f->reading_of);
}

static struct follow_reading *add(struct follow *f, const struct followed *it)
{
	struct follow_reading *r = mem_zalloc(sizeof(*r));

	vec_push(&f->readings, r);
	*map_at(&f->reading_of, it->birth) = f->readings.nr;
	return r;
}

static bool is_of_same_log(const struct follow *f, size_t a, size_t b)
{
	return b < f->taken.nr && !strcmp(f->taken.v[a]->log, f->taken.v[b]->log);
}

/* Nobody writes to it any more. */
static bool is_left(const struct follow *f, size_t nr, int64_t now)
{
	const struct followed *it = f->taken.v[nr];

	return now - it->grew >= f->o.rest_ns && (it->gone || is_of_same_log(f, nr, nr + 1));
}

/* Those of its log in front of it are read. */
static bool is_next(const struct follow *f, size_t nr)
{
	while (nr && is_of_same_log(f, nr, nr - 1)) {
		const struct follow_reading *r = follow_on_find(f, f->taken.v[--nr]);

		if (!r || (r->is_log && !r->is_over))
			return false;
	}
	return true;
}

static int begin(struct follow *f, size_t nr, struct input *in, const struct source_options *o,
		 struct sink *sink, struct follow_reading **made, struct error *err)
{
	struct follow_reading *r = add(f, f->taken.v[nr]);
	const struct logs_about about = { input_path(in), input_mtime(in), input_head(in, NULL),
					  o->kin };
	struct file_seen seen;
	int got;

	*made = r;
	if (!source_is_log(in, o))
		return 0;
	got = logs_open(&r->logs, &about, o, err);
	if (got < 0)
		return got;
	r->is_log = true;
	logs_seen(&r->logs, in, &seen);
	return sink->file(sink->to, &seen, &r->logs.file, err);
}

/* These bytes, but for a line in front that began earlier and one behind that is not whole. */
static struct str whole_lines(struct str bytes, bool is_cut)
{
	const char *last = bytes.n ? memrchr(bytes.p, '\n', bytes.n) : NULL;
	const char *first = is_cut && bytes.n ? memchr(bytes.p, '\n', bytes.n) : NULL;
	size_t skip = first ? (size_t)(first - bytes.p) + 1 : 0;
	size_t end = last ? (size_t)(last - bytes.p) + 1 : 0;

	if (end < skip || (is_cut && !first))
		end = skip;
	return (struct str){ bytes.p + skip, end - skip };
}

/* Where the last event begins in front of upto, not before what was read. */
static uint64_t end_of_whole(const struct follow_reading *r, int fd, uint64_t upto)
{
	uint64_t left = upto > r->at ? upto - r->at : 0, end = r->at;
	bool is_known = false;

	for (size_t want = NEAR_BYTES; left && !is_known; want *= 4) {
		size_t n = left < want ? (size_t)left : want, cut;
		char *room = mem_alloc(n);
		struct str lines;

		if (pread(fd, room, n, (off_t)(upto - n)) != (ssize_t)n) {
			free(room);
			return r->at;
		}
		lines = whole_lines((struct str){ room, n }, n < left);
		cut = lines.n ? logs_cut(&r->logs, lines) : 0;
		is_known = cut < lines.n || n == left || n >= EVENT_BYTES_MAX;
		if (cut < lines.n || n >= EVENT_BYTES_MAX)
			end = upto - n + (uint64_t)(lines.p - room) + cut;
		free(room);
	}
	return end;
}

/* Lines are counted on their way, for who reads on. */
struct counting {
	struct sink *sink;
	uint64_t next; /* line */
};

static int pass_events(void *to, const struct event *ev, size_t nr, struct error *err)
{
	struct counting *c = to;

	if (nr)
		c->next = ev[nr - 1].line + ev[nr - 1].nr_lines;
	return c->sink->events(c->sink->to, ev, nr, err);
}

static void pass_progress(void *to, uint64_t bytes)
{
	struct counting *c = to;

	if (c->sink->progress)
		c->sink->progress(c->sink->to, bytes);
}

static int read_lines(struct follow_reading *r, struct input *in, struct sink *sink,
		      struct error *err)
{
	struct counting c = { sink, r->lines + 1 };
	struct sink own = {
		.to = &c, .events = pass_events, .progress = pass_progress, .losses = sink->losses
	};
	int got = logs_read(&r->logs, in, 0, &own, err);

	r->lines = c.next - 1;
	r->at = input_end(in);
	return got;
}

/* The file as it is now is told in any case. */
static int tell(const struct follow_reading *r, const struct followed *it, int fd,
		struct sink *sink, struct error *err)
{
	struct file_seen seen;
	struct input *in;
	int got = input_of_fd(&in, it->path, fd, it->upto, err);

	if (got < 0)
		return got;
	logs_seen(&r->logs, in, &seen);
	got = sink->again(sink->to, r->logs.file, &seen, err);
	input_close(in);
	return got;
}

static int is_stale(const struct followed *it, struct error *err)
{
	return error_set(err, ESTALE, "'%s' was replaced while it was read", it->path);
}

static bool is_same(const struct follow_reading *r, const struct followed *it, int fd)
{
	struct stat st;

	if (!it->is_plain)
		return true;
	return !fstat(fd, &st) && (uint64_t)st.st_size >= it->upto &&
	       (!r->at || sink_mark(fd, r->at) == r->mark);
}

static int read_on(struct follow_reading *r, const struct followed *it, int fd, uint64_t upto,
		   struct sink *sink, struct error *err)
{
	struct input *in;
	int got;

	if (!is_same(r, it, fd))
		return is_stale(it, err);
	got = tell(r, it, fd, sink, err);
	if (got < 0 || (it->is_plain ? upto <= r->at : r->known_size == it->size))
		return got;
	got = input_go_on(&in, it->path, fd, r->at, r->lines + 1, upto, err);
	if (got < 0)
		return got;
	got = read_lines(r, in, sink, err);
	input_close(in);
	if (!it->is_plain)
		r->known_size = it->size;
	/* what was put there meanwhile is of another time */
	r->mark = it->is_plain ? sink_mark(fd, r->at) : 0;
	return got >= 0 && it->is_plain && !r->mark ? is_stale(it, err) : got;
}

int follow_on_keep(struct follow *f, size_t nr, int64_t now, const struct source_options *o,
		   struct sink *sink, struct error *err)
{
	const struct followed *it = f->taken.v[nr];
	struct follow_reading *r = follow_on_find(f, it);
	cleanup(follow_fd) struct follow_fd at = { .fd = -1 };
	bool is_left_alone = is_left(f, nr, now), has_head = it->upto >= INPUT_HEAD_BYTES;
	int got = 0;

	if ((r && !r->is_log) || !is_next(f, nr) ||
	    (!is_left_alone && (!it->is_plain || (!r && !has_head))))
		return 0;
	if (!follow_set_open(it, &at))
		return at.is_other ? is_stale(it, err) : 0;
	if (!r) {
		struct input *in;

		got = input_of_fd(&in, it->path, at.fd, it->upto, err);
		if (got < 0)
			return 0;
		got = begin(f, nr, in, o, sink, &r, err);
		input_close(in);
	}
	if (got < 0 || !r->is_log)
		return got;
	got = read_on(r, it, at.fd, is_left_alone ? it->upto : end_of_whole(r, at.fd, it->upto),
		      sink, err);
	r->is_over = is_left_alone;
	return got < 0 ? got : 1;
}

int follow_on_rest(struct follow *f, size_t nr, struct sink *sink, struct error *err)
{
	const struct followed *it = f->taken.v[nr];
	struct follow_reading *r = follow_on_find(f, it);
	cleanup(follow_fd) struct follow_fd at = { .fd = -1 };
	int got;

	if (!r || !r->is_log)
		return 0;
	if (!follow_set_open(it, &at))
		return at.is_other ? is_stale(it, err) : 1;
	got = read_on(r, it, at.fd, it->upto, sink, err);
	return got < 0 ? got : 1;
}
