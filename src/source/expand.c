/*
 * Walks what the user named. A file or directory is known by its device and inode, so that links
 * which lead back never hang the walk, and a file that is named twice (or is linked to beside
 * itself, as "current.log" often is) is read once.
 */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/vec.h"
#include "source/kin.h"
#include "source/rotation.h"
#include "source/source.h"

#define DEPTH_MAX 64

struct walk {
	VEC(char *) paths;
	VEC(size_t) name_at;
	VEC(bool) is_found;
	size_t base; /* length of the directory that is walked */
	uint64_t bytes;
	size_t nr_met;     /* files, those that were met before included */
	struct names seen; /* device and inode of each */
};

static bool is_new(struct walk *w, const struct stat *st)
{
	struct {
		uint64_t dev, ino;
	} id = { st->st_dev, st->st_ino };
	struct str s = { (const char *)&id, sizeof(id) };

	if (names_find(&w->seen, s))
		return false;
	names_add(&w->seen, s);
	return true;
}

static void add_file(struct walk *w, const char *path, const struct stat *st)
{
	w->nr_met++;
	if (st && !is_new(w, st))
		return;
	vec_push(&w->paths, strdup(path));
	if (!w->paths.v[w->paths.nr - 1])
		mem_bytes(SIZE_MAX, 2); /* memory has ended */
	vec_push(&w->name_at, w->base);
	vec_push(&w->is_found, w->base > 0);
	if (st && S_ISREG(st->st_mode))
		w->bytes += (uint64_t)st->st_size;
}

static int not_hidden(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return rotation_cmp(str_of((*a)->d_name), str_of((*b)->d_name));
}

/* What cannot be looked into on the way is passed over: the user named only what is above it. */
static void walk_directory(struct walk *w, const char *path, int depth)
{
	struct dirent **entries;
	int nr = depth < DEPTH_MAX ? scandir(path, &entries, not_hidden, by_name) : -1;

	for (int i = 0; i < nr; i++) {
		size_t room = strlen(path) + strlen(entries[i]->d_name) + 2;
		bool slash = path[strlen(path) - 1] != '/';
		char *child = mem_alloc(room);
		struct stat st;

		snprintf(child, room, "%s%s%s", path, slash ? "/" : "", entries[i]->d_name);
		free(entries[i]);
		if (!stat(child, &st)) {
			if (S_ISREG(st.st_mode))
				add_file(w, child, &st);
			else if (S_ISDIR(st.st_mode) && is_new(w, &st))
				walk_directory(w, child, depth + 1);
		}
		free(child);
	}
	if (nr >= 0)
		free(entries);
}

static int add_existing(struct walk *w, const char *path, const struct stat *st, struct error *err)
{
	DIR *dir;

	if (!S_ISDIR(st->st_mode)) {
		if (S_ISSOCK(st->st_mode) || S_ISBLK(st->st_mode))
			return error_set(err, EINVAL, "cannot read '%s': it is not a file", path);
		add_file(w, path, st);
		return 0;
	}
	dir = opendir(path);
	if (!dir)
		return error_set(err, errno, "cannot look into '%s': %s", path, strerror(errno));
	closedir(dir);
	w->base = strlen(path) + (path[strlen(path) - 1] != '/');
	if (is_new(w, st))
		walk_directory(w, path, 0);
	else
		w->nr_met++;
	w->base = 0;
	return 0;
}

static int add_glob(struct walk *w, const char *pattern, struct error *err)
{
	glob_t g = { 0 };
	int r = glob(pattern, GLOB_BRACE, NULL, &g);

	if (r)
		r = error_set(err, ENOENT, "nothing matches '%s'", pattern);
	for (size_t i = 0; !r && i < g.gl_pathc; i++) {
		struct stat st;

		if (!stat(g.gl_pathv[i], &st))
			r = add_existing(w, g.gl_pathv[i], &st, err);
	}
	globfree(&g);
	return r;
}

static int add_argument(struct walk *w, const char *arg, struct error *err)
{
	size_t before = w->nr_met;
	struct stat st;
	int r = 0;

	if (!strcmp(arg, "-"))
		add_file(w, arg, NULL);
	else if (!stat(arg, &st))
		r = add_existing(w, arg, &st, err);
	else if (errno == ENOENT && strpbrk(arg, "*?[{")) /* no file has this very name */
		r = add_glob(w, arg, err);
	else
		r = error_set(err, errno, "cannot read '%s': %s", arg, strerror(errno));
	if (!r && w->nr_met == before)
		r = error_set(err, ENOENT, "there is no file to read in '%s'", arg);
	return r;
}

int source_expand(char *const *args, size_t nr, struct source_list *list, struct error *err)
{
	struct walk w = { .bytes = 0 };
	struct source_list made;
	int r = 0;

	for (size_t i = 0; i < nr && !r; i++)
		r = add_argument(&w, args[i], err);
	/* below several directories the same name may stand twice */
	for (size_t i = 0; i < w.name_at.nr && nr > 1; i++)
		w.name_at.v[i] = 0;
	made = (struct source_list){ .paths = w.paths.v,
				     .name_at = w.name_at.v,
				     .is_found = w.is_found.v,
				     .nr = w.paths.nr,
				     .bytes = w.bytes };
	names_done(&w.seen);
	if (r)
		source_list_done(&made);
	else
		*list = made;
	return r;
}

void source_list_done(struct source_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->paths[i]);
	free(list->paths);
	free(list->name_at);
	free(list->is_found);
	if (list->kin)
		kin_done(list->kin);
	free(list->kin);
	*list = (struct source_list){ 0 };
}

int source_read_listed(struct source_list *list, size_t nr, const struct source_options *o,
		       struct sink *sink, struct error *err)
{
	struct source_options own = *o;

	if (!list->kin)
		list->kin = mem_zalloc(sizeof(*list->kin));
	own.kin = kin_of_listed(list->kin, list, nr);
	own.keeps_text = list->is_found[nr];
	return source_read(list->paths[nr], &own, sink, err);
}
