/*
 * A file is known by its device and inode, and is kept open: it stays the same whatever it is
 * called next, its inode cannot become another file's, and what it holds can be read even after it
 * was deleted. How logs rotate, and what is made of it:
 *
 *      app.log -> app.log.1, new app.log     the same file under another name, and a new file
 *      app.log copied to app.log.1           a file whose content another one begins with: left out
 *      app.log cut to nothing                a file whose former content must be found in another
 *      app.log.1 -> app.log.1.gz             two files with the same content: the plain one counts
 *                                            while it is there, the packed one from then on
 *      app.log.5 deleted                     read on from the open file, up to a limit
 *
 * Nothing is said twice then, and what was known and is nowhere any more is counted. A look costs
 * one stat for each file, and 512 bytes of each that has changed.
 */
#include "source/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/vec.h"
#include "model/sink.h"
#include "source/follow_content.h"
#include "source/follow_on.h"
#include "source/follow_order.h"
#include "source/follow_set.h"
#include "source/source.h"

#define LOOKS_MAX 8 /* in a row, until no name changes any more */

struct follow *follow_new(const struct follow_options *o)
{
	struct follow *f = mem_zalloc(sizeof(*f));
	char real[PATH_MAX];
	const char *slash = o->output ? strrchr(o->output, '/') : NULL;

	f->o = *o;
	if (!o->output)
		return f;
	f->output_name = slash ? slash + 1 : o->output;
	f->output_dir = follow_set_directory(str_of(o->output));
	if (realpath(f->output_dir, real)) {
		free(f->output_dir);
		f->output_dir = mem_alloc(strlen(real) + 1);
		memcpy(f->output_dir, real, strlen(real) + 1);
	}
	return f;
}

void follow_free(struct follow *f)
{
	vec_each (&f->files, it)
		follow_set_forget(f, *it);
	vec_each (&f->ghosts, it)
		free(it->log);
	vec_done(&f->files);
	vec_done(&f->ghosts);
	vec_done(&f->taken);
	follow_on_done(f);
	follow_index_done(&f->index);
	kin_done(&f->kin);
	free(f->output_dir);
	free(f);
}

/* The run that is written, or one that is being written to its place. */
static bool is_output(const struct follow *f, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct str rest = str_of(name);
	char real[PATH_MAX], *dir;
	bool is;

	if (!f->output_name || !str_take(&rest, str_of(f->output_name)) ||
	    (rest.n && !str_starts(rest, STR(".partial-"))))
		return false;
	dir = follow_set_directory(str_of(path));
	is = realpath(dir, real) && !strcmp(real, f->output_dir);
	free(dir);
	return is;
}

/* What one argument stands for now. */
static void look_at_argument(struct follow *f, size_t arg, int64_t now, struct error *trouble)
{
	struct source_list list = { 0 };
	struct error err = { 0 };
	struct stat st;
	char *args[] = { f->o.args[arg] };

	if (source_expand(args, 1, &list, &err) < 0) {
		*trouble = err;
		/* one that is not there has no files; one that cannot be seen may have them all */
		vec_each (&f->files, it)
			if ((*it)->arg == arg && err.code != ENOENT)
				(*it)->is_here = true;
		return;
	}
	for (size_t i = 0; i < list.nr; i++) {
		const struct follow_met met = { list.paths[i], list.name_at[i], arg, &st };

		if (is_output(f, list.paths[i]) || stat(list.paths[i], &st))
			continue;
		if (S_ISREG(st.st_mode))
			follow_set_meet(f, &met, now);
		else
			error_set(trouble, EINVAL, "'%s' is no file that can be followed",
				  list.paths[i]);
	}
	source_list_done(&list);
}

/* Once through all arguments. */
static void look(struct follow *f, int64_t now, struct error *trouble)
{
	f->names_changed = false;
	follow_index_done(&f->index);
	vec_each (&f->files, it) {
		follow_index_add(&f->index, *it);
		(*it)->is_here = false;
	}
	for (size_t i = 0; i < f->o.nr_args; i++)
		look_at_argument(f, i, now, trouble);
	follow_set_part(f, now);
	follow_order(f);
	follow_set_compare(f);
	follow_set_limit(f);
}

bool follow_look(struct follow *f, int64_t now, struct error *trouble)
{
	*trouble = (struct error){ 0 };
	f->changed = false;
	for (int i = 0; i < LOOKS_MAX && (!i || f->names_changed); i++)
		look(f, now, trouble);
	follow_set_miss(f);
	return f->changed;
}

void follow_state(const struct follow *f, struct follow_state *s)
{
	*s = (struct follow_state){ .nr_lost = f->nr_lost };
	vec_each (&f->files, it) {
		s->nr_copies += (*it)->copy_of != 0;
		s->nr_kept += (*it)->gone != 0;
		if ((*it)->copy_of)
			continue;
		s->nr_files++;
		s->bytes += (*it)->size;
	}
}

/* The directory and those above it, down to what was named. */
static void each_above(char *dir, size_t arg_n, void (*each)(void *ctx, const char *path),
		       void *ctx)
{
	char *slash;

	for (;;) {
		each(ctx, dir);
		slash = strrchr(dir, '/');
		if (!slash || (size_t)(slash - dir) < arg_n)
			return;
		*slash = 0;
	}
}

void follow_each_directory(const struct follow *f, void (*each)(void *ctx, const char *path),
			   void *ctx)
{
	char *before = NULL;

	for (size_t i = 0; i < f->o.nr_args; i++) {
		char *dir = follow_set_directory(str_of(f->o.args[i]));

		each(ctx, f->o.args[i]);
		each(ctx, dir);
		free(dir);
	}
	vec_each (&f->files, it) {
		char *dir = follow_set_directory(str_of((*it)->path));

		if (!before || strcmp(dir, before) != 0) {
			free(before);
			before = mem_alloc(strlen(dir) + 1);
			memcpy(before, dir, strlen(dir) + 1);
			each_above(dir, strlen(f->o.args[(*it)->arg]), each, ctx);
		}
		free(dir);
	}
	free(before);
}

/* How much of it is whole; text that was not written to for a while is, whatever its end. */
static uint64_t whole_of(struct follow *f, struct followed *it, int64_t now, bool is_last)
{
	cleanup(follow_fd) struct follow_fd at = { .fd = -1 };

	if (is_last || it->gone || !it->is_text || now - it->grew >= f->o.rest_ns)
		return it->size;
	if (!follow_set_open(it, &at))
		return it->size;
	return follow_content_whole(at.fd, it->size);
}

size_t follow_take(struct follow *f, int64_t now, bool is_last, bool *has_more)
{
	*has_more = false;
	vec_clear(&f->taken);
	buf_clear(&f->kin.log);
	vec_each (&f->files, it) {
		uint64_t whole = (*it)->copy_of ? 0 : whole_of(f, *it, now, is_last);
		/* what is compressed begins with nothing for a while */
		bool is_nothing = !whole || (!(*it)->is_plain && !(*it)->head_n &&
					     now - (*it)->grew < f->o.rest_ns);

		if ((*it)->copy_of)
			continue;
		*has_more |= whole < (*it)->size || (is_nothing && (*it)->size);
		if (is_nothing && !is_last)
			continue;
		(*it)->upto = whole;
		vec_push(&f->taken, *it);
	}
	return f->taken.nr;
}

const char *follow_name(const struct follow *f, size_t nr)
{
	const struct followed *it = f->taken.v[nr];

	return it->path + (f->o.nr_args == 1 ? it->name_at : 0);
}

const char *follow_path(const struct follow *f, size_t nr)
{
	return f->taken.v[nr]->path;
}

/* The largest file of its log, when that is another one. */
static struct str kin_of(struct follow *f, size_t nr)
{
	cleanup(follow_fd) struct follow_fd at = { .fd = -1 };
	const struct followed *best = NULL;
	struct str log = str_of(f->taken.v[nr]->log);
	size_t i = nr, nr_kin = 0;

	while (i && str_eq(str_of(f->taken.v[i - 1]->log), log))
		i--;
	for (; i < f->taken.nr && str_eq(str_of(f->taken.v[i]->log), log); i++, nr_kin++)
		if (!best || f->taken.v[i]->upto > best->upto)
			best = f->taken.v[i];
	if (nr_kin < 2)
		return (struct str){ 0 };
	if (!kin_is_of(&f->kin, log))
		kin_set(&f->kin, log, follow_set_open(best, &at) ? at.fd : -1, best->upto);
	return buf_str(&f->kin.head);
}

static int is_stale(const struct followed *it, struct error *err)
{
	return error_set(err, ESTALE, "'%s' was replaced while it was read", it->path);
}

int follow_read_on(struct follow *f, size_t nr, int64_t now, const struct source_options *o,
		   struct sink *sink, struct error *err)
{
	struct source_options own = *o;
	int r;

	own.kin = kin_of(f, nr);
	own.keeps_text = f->taken.v[nr]->name_at > 0;
	r = follow_on_keep(f, nr, now, &own, sink, err);
	return r < 0 ? r : 0;
}

void follow_forget(struct follow *f)
{
	follow_on_done(f);
}

int follow_read(struct follow *f, size_t nr, const struct source_options *o, struct sink *sink,
		struct error *err)
{
	struct followed *it = f->taken.v[nr];
	cleanup(follow_fd) struct follow_fd at = { .fd = -1 };
	struct source_options own = *o;
	struct stat st;
	uint64_t mark;
	int r = follow_on_rest(f, nr, sink, err);

	if (r)
		return r;
	if (!follow_set_open(it, &at)) {
		if (at.is_other)
			return is_stale(it, err);
		error_set(err, errno, "cannot open '%s': %s", it->path, strerror(errno));
		sink->losses->count[LOSS_FILES_UNREADABLE]++;
		return 0;
	}
	if (fstat(at.fd, &st) || (uint64_t)st.st_size < it->upto)
		return is_stale(it, err);
	mark = sink_mark(at.fd, it->upto);
	own.kin = kin_of(f, nr);
	own.keeps_text = it->name_at > 0;
	r = source_read_open(at.fd, it->path, it->upto, &own, sink, err);
	/* cut and written anew meanwhile: half of what was read is of another time */
	if (r >= 0 && (fstat(at.fd, &st) || (uint64_t)st.st_size < it->upto ||
		       sink_mark(at.fd, it->upto) != mark))
		return is_stale(it, err);
	return r;
}
