/*
 * A file is known by device and inode, and by its first bytes, since inodes are used again. What
 * can happen to it between two looks, and what is done then:
 *
 *	grown                        read on
 *	renamed, another at its name   the old one is read to its end, then the new one; those that
 *				     came and were renamed in between are found beside it
 *	cut, its content copied away   the copy is found by its first bytes and read on from there,
 *				     packed or not; the file itself is begun anew
 *	packed or gone while we were not there   likewise; what is found nowhere is counted
 */
#include "host/tail_search.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/tail_kin.h"
#include "model/loss.h"
#include "source/input.h"

#define MARK_SURE 32 /* bytes by which a copy is known */

/* The newest of that number: older ones may be gone and not known to be. */
static struct tail_file *find_inode(const struct tail *t, uint64_t dev, uint64_t ino)
{
	for (size_t i = t->files.nr; i--;) {
		struct tail_file *f = t->files.v[i];

		if (f->ino == ino && f->dev == dev && !f->is_gone)
			return f;
	}
	return NULL;
}

/* Whether what stands at the path begins as the file did. */
static bool begins_at(const struct tail_file *f, const char *path, struct tail_file *probe)
{
	bool is_same;

	*probe = (struct tail_file){ .path = strdup(path), .fd = -1 };
	is_same = tail_file_open(probe, path) >= 0 &&
		  tail_file_begins_same(f, probe->fd, probe->is_packed);
	tail_file_shut(probe);
	free(probe->path);
	return is_same;
}

/* The file that this is, if it is known. One that is not open may be gone and its number given to
 * another. */
static struct tail_file *find_known(struct tail *t, const char *path, const struct stat *st)
{
	struct tail_file *f = find_inode(t, st->st_dev, st->st_ino), probe;

	if (!f || f->fd >= 0 ||
	    ((uint64_t)st->st_size == f->size && tail_file_mtime(st) == f->mtime_ns) ||
	    begins_at(f, path, &probe))
		return f;
	/* what a start has not looked for yet may be elsewhere */
	if (!f->is_recalled)
		f->is_gone = f->is_over = f->is_moved = true;
	return NULL;
}

bool tail_recall(struct tail *t, struct str note)
{
	struct tail_file *f = tail_file_of_note(note);

	if (!f)
		return false;
	vec_each (&t->files, at)
		if ((*at)->ino == f->ino && (*at)->dev == f->dev) {
			tail_file_free(*at);
			*at = f;
			return true;
		}
	vec_push(&t->files, f);
	return true;
}

/* One of the log that begins as the file at the path does; NULL when there is none. */
static struct tail_file *find_original(const struct tail *t, const struct tail_file *like)
{
	vec_each (&t->files, f)
		if (*f != like && (*f)->nr_mark >= MARK_SURE && !strcmp((*f)->log, like->log) &&
		    tail_file_begins_same(*f, like->fd, like->is_packed))
			return *f;
	return NULL;
}

/* A file that nothing is known of; NULL when it cannot be opened. */
static struct tail_file *adopt(struct tail *t, const char *path, const char *name)
{
	struct tail_file *f = tail_file_new(path, name);

	if (tail_file_open(f, path) < 0) {
		uint64_t *counted = map_at(&t->unreadable, str_hash(str_of(path)));

		t->o.losses->count[LOSS_FILES_UNREADABLE] += !*counted;
		*counted = 1;
		tail_file_free(f);
		return NULL;
	}
	f->is_moved = true;
	tail_file_mark(f);
	vec_push(&t->files, f);
	return f;
}

static void begin_at(struct tail_file *f, uint64_t at)
{
	f->at = f->offset = at;
}

/* Not all of what was written before anybody looked. */
static void leave_backlog(struct tail *t, struct tail_file *f)
{
	uint64_t hole = f->is_packed ? 0 : input_hole(f->fd, f->size);

	begin_at(f, hole);
	if (f->is_packed || f->size - hole <= t->o.backlog_bytes)
		return;
	begin_at(f, f->size - t->o.backlog_bytes);
	t->o.losses->count[LOSS_LOG_BYTES_BEFORE] += f->at - hole;
	f->is_skipping = true;
}

struct sibling_search {
	struct tail *t;
	struct tail_file *of;
	int64_t after_ns;
	bool is_found, takes_packed;
	char *copy; /* path of the best so far */
};

/* One that is packed may be in the making, of something that was read already: only at a start is
 * it asked for, and only when it shows what it is. */
static bool may_be_taken(const struct sibling_search *s, const struct tail_file *f)
{
	return !f->is_packed || (s->takes_packed && f->nr_mark >= MARK_SURE);
}

/* It was adopted last. */
static void dismiss(struct tail *t, struct tail_file *f)
{
	t->files.nr--;
	tail_file_free(f);
}

/* A copy of what is known: of no use when all of that was read, and else looked at again when it
 * takes the place of the original. */
static bool is_copy(struct tail *t, struct tail_file *f)
{
	const struct tail_file *original = find_original(t, f);

	if (!original)
		return false;
	if (original->is_over)
		f->is_over = true;
	else
		dismiss(t, f);
	return true;
}

/* Came and was renamed, or cut, while nobody looked. */
static bool meet_sibling(void *ctx, const char *path, const struct stat *st)
{
	struct sibling_search *s = ctx;
	bool is_live = !strcmp(path, s->of->log);
	struct tail_file *f;

	if (find_known(s->t, path, st) || (!is_live && tail_file_mtime(st) < s->after_ns))
		return false;
	f = adopt(s->t, path, s->of->name);
	if (!f)
		return false;
	f->is_rotated = !is_live;
	if (!is_live && !is_copy(s->t, f) && !may_be_taken(s, f))
		f->is_over = true;
	return false;
}

/* The old content of a file under another name: of several copies the newest, which has all. */
static bool meet_copy(void *ctx, const char *path, const struct stat *st)
{
	struct sibling_search *s = ctx;
	struct tail_file probe;

	if (find_known(s->t, path, st) || s->of->nr_mark < MARK_SURE ||
	    (s->copy && tail_file_mtime(st) < s->after_ns) || !begins_at(s->of, path, &probe))
		return false;
	free(s->copy);
	s->copy = strdup(path);
	s->after_ns = tail_file_mtime(st);
	return false;
}

/* True when it was found; it is read on then. */
static bool find_copy(struct tail *t, struct tail_file *of)
{
	struct sibling_search s = { .t = t, .of = of };
	struct tail_file *copy;

	tail_kin(of->log, meet_copy, &s);
	copy = s.copy ? adopt(t, s.copy, of->name) : NULL;
	free(s.copy);
	if (!copy)
		return false;
	copy->offset = of->offset;
	copy->at = of->at;
	copy->is_rotated = true;
	return true;
}

void tail_was_cut(struct tail *t, struct tail_file *f, uint64_t size)
{
	struct sibling_search s = { .t = t, .of = f };
	bool has_unread = f->size > f->at;

	if (!find_copy(t, f) && has_unread)
		t->o.losses->count[LOSS_LOGS_GONE]++;
	f->nr_mark = 0;
	f->mark = 0;
	f->is_skipping = false;
	f->is_moved = true;
	f->rested = UINT64_MAX;
	begin_at(f, input_hole(f->fd, size));
	/* it may have been cut more than once */
	tail_file_mark(f);
	s.after_ns = f->mtime_ns;
	tail_kin(f->log, meet_sibling, &s);
}

void tail_was_rotated(struct tail *t, struct tail_file *f)
{
	struct sibling_search s = { .t = t, .of = f, .after_ns = f->mtime_ns };

	f->is_rotated = true;
	f->is_moved = true;
	tail_kin(f->log, meet_sibling, &s);
}

/* 1: a file with this content is open; 0: it is not at its path. */
static bool is_at_path(struct tail_file *f)
{
	struct tail_file probe;
	bool is_same = begins_at(f, f->path, &probe) || !f->nr_mark;

	is_same &=
		probe.dev == f->dev && probe.ino == f->ino && (f->is_packed || probe.size >= f->at);
	return is_same && tail_file_open(f, f->path) >= 0;
}

static bool meet_renamed(void *ctx, const char *path, const struct stat *st)
{
	struct sibling_search *s = ctx;

	if (st->st_ino != s->of->ino || st->st_dev != s->of->dev)
		return false;
	tail_file_rename(s->of, path);
	s->is_found = is_at_path(s->of);
	return s->is_found;
}

/* What an earlier start read of: found again wherever it is now. */
static void look_for(struct tail *t, struct tail_file *f)
{
	struct sibling_search s = { .t = t, .of = f };

	f->is_recalled = false;
	if (f->is_over || is_at_path(f))
		return;
	tail_kin(f->log, meet_renamed, &s);
	if (s.is_found) {
		f->is_rotated = strcmp(f->path, f->log) != 0;
		f->is_moved = true;
		return;
	}
	/* another may have its number by now: the copy is not to be taken for that one */
	f->is_gone = f->is_over = true;
	f->is_moved = true;
	f->is_missed = !find_copy(t, f);
	if (f->is_missed && f->nr_mark)
		t->o.losses->count[LOSS_LOGS_GONE]++;
}

/* Since when files of this log may hold what nobody read: since the newest was written that is
 * known, or the oldest that was not found again. */
static int64_t unread_since(const struct tail *t, const char *log)
{
	int64_t newest = INT64_MIN, gone = INT64_MAX;

	vec_each (&t->files, f) {
		if (strcmp((*f)->log, log) != 0)
			continue;
		if ((*f)->kept_ns > newest)
			newest = (*f)->kept_ns;
		if ((*f)->is_missed && (*f)->kept_ns < gone)
			gone = (*f)->kept_ns;
	}
	return gone < newest ? gone : newest;
}

void tail_look_for_all(struct tail *t)
{
	size_t nr = t->files.nr;

	if (t->has_looked)
		return;
	t->has_looked = true;
	for (size_t i = 0; i < nr; i++)
		t->files.v[i]->kept_ns = t->files.v[i]->mtime_ns;
	for (size_t i = 0; i < nr; i++)
		look_for(t, t->files.v[i]);
	for (size_t i = 0; i < nr; i++) {
		struct sibling_search s = { .t = t,
					    .of = t->files.v[i],
					    .after_ns = unread_since(t, t->files.v[i]->log),
					    .takes_packed = true };

		tail_kin(s.of->log, meet_sibling, &s);
	}
}

/* One that was over and goes on after all. */
static void meet_again(struct tail_file *f, const char *path, const struct stat *st)
{
	if (!f->is_over) {
		if (f->is_rotated && strcmp(path, f->path) != 0) {
			tail_file_rename(f, path);
			f->is_rotated = false;
			f->is_moved = true;
		}
		return;
	}
	if ((uint64_t)st->st_size == f->size || f->is_packed || tail_file_open(f, path) < 0)
		return;
	f->is_over = false;
	f->is_rotated = false;
	f->is_moved = true;
}

void tail_add(struct tail *t, const char *path, const char *name)
{
	struct tail_file *f;
	struct stat st;

	tail_look_for_all(t);
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return;
	f = find_known(t, path, &st);
	if (f) {
		meet_again(f, path, &st);
		return;
	}
	f = adopt(t, path, name);
	if (!f)
		return;
	if (strcmp(f->path, f->log) != 0 && is_copy(t, f))
		return;
	if (f->is_packed)
		f->is_over = true;
	else
		leave_backlog(t, f);
}

bool tail_has(const struct tail *t, const char *path)
{
	struct stat st;

	return !stat(path, &st) && find_inode(t, st.st_dev, st.st_ino);
}
