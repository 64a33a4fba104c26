#include "source/follow_set.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/time.h"
#include "source/follow_content.h"

static char *copy_of(struct str s)
{
	char *z = mem_alloc(s.n + 1);

	memcpy(z, s.p, s.n);
	z[s.n] = 0;
	return z;
}

static size_t directory_length(struct str path)
{
	size_t n = path.n;

	while (n && path.p[n - 1] != '/')
		n--;
	return n;
}

char *follow_set_directory(struct str path)
{
	size_t n = directory_length(path);

	if (!n)
		return copy_of(STR("."));
	return copy_of(str_head(path, n > 1 ? n - 1 : n));
}

static void set_path(struct followed *it, const char *path)
{
	struct buf log = { 0 };

	free(it->path);
	free(it->log);
	it->path = copy_of(str_of(path));
	rotation_log(&log, str_of(path));
	it->log = copy_of(buf_str(&log));
	buf_done(&log);
}

static bool is_file(const struct followed *it, const struct stat *st)
{
	return st->st_dev == it->dev && st->st_ino == it->ino;
}

bool follow_set_open(const struct followed *it, struct follow_fd *at)
{
	struct stat st;

	*at = (struct follow_fd){ .fd = it->fd };
	if (it->fd >= 0)
		return true;
	at->fd = open(it->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (at->fd < 0) {
		at->is_other = errno == ENOENT || errno == ENOTDIR;
		return false;
	}
	at->is_own = true;
	at->is_other = fstat(at->fd, &st) || !is_file(it, &st);
	return !at->is_other;
}

static int64_t mtime_of(const struct stat *st)
{
	return st->st_mtim.tv_sec * NS_S + st->st_mtim.tv_nsec;
}

static void add_ghost(struct follow *f, const struct followed *it)
{
	struct follow_ghost g = { .size = it->size,
				  .head_n = it->head_n,
				  .is_plain = it->is_plain };

	if (it->copy_of || !it->head_n)
		return;
	g.log = copy_of(str_of(it->log));
	memcpy(g.head, it->head, it->head_n);
	vec_push(&f->ghosts, g);
}

/* Its size or time is another: is it the same content with more behind it? */
static void read_head(struct follow *f, struct followed *it, uint64_t size)
{
	cleanup(follow_fd) struct follow_fd at;
	char head[FOLLOW_HEAD_BYTES];
	size_t n = 0;

	it->is_plain = true;
	if (follow_set_open(it, &at))
		n = follow_content_head(at.fd, head, sizeof(head), &it->is_plain);
	if (size < it->size || n < it->head_n || memcmp(head, it->head, it->head_n)) {
		add_ghost(f, it);
		it->serial = it->birth = ++f->nr_serials;
		it->copy_of = 0;
		f->names_changed = true;
	}
	memcpy(it->head, head, n);
	it->head_n = n;
	it->is_text = it->is_plain && !memchr(head, 0, n);
}

static void refresh(struct follow *f, struct followed *it, const struct stat *st, int64_t now)
{
	uint64_t size = (uint64_t)st->st_size;

	if (size == it->size && mtime_of(st) == it->mtime_ns)
		return;
	read_head(f, it, size);
	it->size = size;
	it->mtime_ns = mtime_of(st);
	it->grew = now;
	f->changed = true;
}

static void add(struct follow *f, const struct follow_met *met, int64_t now)
{
	struct followed *it = mem_zalloc(sizeof(*it));
	struct follow_fd at;

	*it = (struct followed){ .dev = met->st->st_dev,
				 .ino = met->st->st_ino,
				 .name_at = met->name_at,
				 .arg = met->arg,
				 .serial = ++f->nr_serials,
				 .mtime_ns = INT64_MIN,
				 .fd = -1,
				 .is_here = true };
	it->birth = it->serial;
	set_path(it, met->path);
	f->names_changed = true;
	if (follow_set_open(it, &at) && f->nr_open < f->o.open_max) {
		it->fd = at.fd;
		f->nr_open++;
	} else {
		cleanup_follow_fd(&at);
	}
	if (at.is_other) {
		follow_set_forget(f, it);
		return;
	}
	refresh(f, it, met->st, now);
	if (time_now() - it->mtime_ns >= f->o.rest_ns)
		it->grew = now - f->o.rest_ns;
	vec_push(&f->files, it);
	follow_index_add(&f->index, it);
	f->changed = true;
}

void follow_set_forget(struct follow *f, struct followed *it)
{
	if (it->fd >= 0) {
		close(it->fd);
		f->nr_open--;
	}
	free(it->path);
	free(it->log);
	free(it);
}

void follow_set_meet(struct follow *f, const struct follow_met *met, int64_t now)
{
	struct followed *it = follow_index_find(&f->index, met->st->st_dev, met->st->st_ino);

	if (!it) {
		add(f, met, now);
		return;
	}
	it->is_here = true;
	if (it->gone || strcmp(it->path, met->path) != 0) {
		set_path(it, met->path);
		it->gone = 0;
		f->changed = f->names_changed = true;
	}
	it->name_at = met->name_at;
	it->arg = met->arg;
	refresh(f, it, met->st, now);
}

/* What is left of the list once some have been forgotten. */
static void compact(struct follow *f, bool (*is_over)(struct follow *f, struct followed *it))
{
	size_t nr = 0;

	vec_each (&f->files, it) {
		if (is_over(f, *it)) {
			follow_set_forget(f, *it);
			f->changed = true;
		} else {
			f->files.v[nr++] = *it;
		}
	}
	f->files.nr = nr;
}

static bool is_gone_for_good(struct follow *f, struct followed *it)
{
	if (it->is_here || it->gone)
		return false;
	f->names_changed = true;
	if (it->fd >= 0 && it->head_n) {
		it->gone = ++f->nr_gone;
		f->changed = true;
		return false;
	}
	add_ghost(f, it);
	return true;
}

void follow_set_part(struct follow *f, int64_t now)
{
	struct stat st;

	compact(f, is_gone_for_good);
	/* who writes to a file that was deleted goes on doing so */
	vec_each (&f->files, it)
		if ((*it)->gone && !fstat((*it)->fd, &st))
			refresh(f, *it, &st, now);
}

/* Of two with the same content: the one that stays where it is, can be read anywhere, came first.
 */
static bool is_better(const struct followed *a, const struct followed *b)
{
	if (!a->gone != !b->gone)
		return !a->gone;
	if (a->is_plain != b->is_plain)
		return a->is_plain;
	return a->serial < b->serial;
}

static bool is_copy(const struct followed *a, const struct followed *b)
{
	cleanup(follow_fd) struct follow_fd x = { .fd = -1 };
	cleanup(follow_fd) struct follow_fd y = { .fd = -1 };
	size_t n = a->head_n < b->head_n ? a->head_n : b->head_n;

	if (!n || memcmp(a->head, b->head, n) || !follow_set_open(a, &x) || !follow_set_open(b, &y))
		return false;
	switch (follow_content_cmp(x.fd, y.fd)) {
	case CONTENT_FRONT:
		return true;
	case CONTENT_SAME:
		return is_better(b, a);
	default:
		return false;
	}
}

/* Files only grow while they keep their number, so what was found once need not be read again. */
static bool is_known_copy(const struct followed *a, struct followed *const *group, size_t nr)
{
	for (size_t i = 0; i < nr && a->copy_of; i++)
		if (group[i]->serial == a->copy_of)
			return a->copy_size == a->size && (!group[i]->gone || a->gone);
	return false;
}

static void compare_group(struct follow *f, struct followed **group, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct followed *a = group[i];
		uint64_t before = a->copy_of;

		if (is_known_copy(a, group, nr))
			continue;
		a->copy_of = 0;
		for (size_t k = 0; k < nr && !a->copy_of; k++) {
			if (k == i || !is_copy(a, group[k]))
				continue;
			a->copy_of = group[k]->serial;
			if (a->birth > group[k]->birth)
				a->birth = group[k]->birth;
			group[k]->birth = a->birth;
		}
		a->copy_size = a->size;
		f->changed |= a->copy_of != before;
	}
}

static bool is_superseded(struct follow *f, struct followed *it)
{
	(void)f;
	return it->gone && it->copy_of;
}

void follow_set_compare(struct follow *f)
{
	size_t from = 0, nr = f->files.nr;

	for (size_t i = 1; i <= nr; i++) {
		if (i < nr && !strcmp(f->files.v[i]->log, f->files.v[from]->log))
			continue;
		if (i - from > 1)
			compare_group(f, f->files.v + from, i - from);
		from = i;
	}
	compact(f, is_superseded);
}

void follow_set_limit(struct follow *f)
{
	for (;;) {
		uint64_t bytes = 0;
		size_t oldest = f->files.nr;

		for (size_t i = 0; i < f->files.nr; i++) {
			const struct followed *it = f->files.v[i];

			bytes += it->gone ? it->size : 0;
			if (it->gone &&
			    (oldest == f->files.nr || it->gone < f->files.v[oldest]->gone))
				oldest = i;
		}
		if (bytes <= f->o.kept_bytes)
			return;
		follow_set_forget(f, f->files.v[oldest]);
		memmove(&f->files.v[oldest], &f->files.v[oldest + 1],
			(f->files.nr - oldest - 1) * sizeof(*f->files.v));
		f->files.nr--;
		f->nr_lost++;
		f->changed = true;
	}
}

static bool holds(const struct followed *it, const struct follow_ghost *g)
{
	return !strcmp(it->log, g->log) && it->head_n >= g->head_n &&
	       !memcmp(it->head, g->head, g->head_n) &&
	       (!it->is_plain || !g->is_plain || it->size >= g->size);
}

void follow_set_miss(struct follow *f)
{
	size_t nr = 0;

	vec_each (&f->ghosts, g) {
		bool is_found = false;

		vec_each (&f->files, it)
			is_found |= holds(*it, g);
		if (!is_found && ++g->nr_looks < 2) {
			f->ghosts.v[nr++] = *g;
			continue;
		}
		free(g->log);
		f->nr_lost += !is_found;
		f->changed |= !is_found;
	}
	f->ghosts.nr = nr;
}
