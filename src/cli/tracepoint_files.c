#include "cli/tracepoint_files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"

static int read_file(const char *path, struct buf *text, struct error *err)
{
	cleanup(fclose) FILE *f = fopen(path, "re");

	if (!f && errno == ENOENT && !strchr(path, '/') && !strchr(path, '.')) {
		struct buf sets = { 0 };

		for (size_t i = 0; tracepoint_set_at(i); i++)
			buf_fmt(&sets, "%s%s", i ? ", " : "", tracepoint_set_at(i)->name);
		error_set(err, ENOENT,
			  "there is no file '%s', nor a set of tracepoints: those are " STR_FMT,
			  path, STR_ARG(buf_str(&sets)));
		buf_done(&sets);
		return -ENOENT;
	}
	if (!f)
		return error_set(err, errno, "cannot open '%s': %s", path, strerror(errno));
	text->n += fread(buf_room(text, TRACEPOINT_BYTES + 1), 1, TRACEPOINT_BYTES + 1, f);
	return ferror(f) ? error_set(err, EIO, "cannot read '%s'", path) : 0;
}

static int add_text(struct tracepoint_files *f, const char *name, struct str text,
		    struct error *err)
{
	struct tracepoints t;
	int got = tracepoints_parse(arena_str(&f->arena, str_of(name)), text, &f->arena, &t, err);

	if (got >= 0)
		vec_push(&f->v, t);
	return got;
}

int tracepoint_files_add(struct tracepoint_files *f, const char *name, struct error *err)
{
	const struct tracepoint_set *set = name ? tracepoint_set_find(str_of(name)) : NULL;
	struct buf text = { 0 };
	int got = 0;

	if (set)
		return add_text(f, set->name, set->text, err);
	for (size_t i = 0; !name && tracepoint_set_at(i) && got >= 0; i++)
		got = add_text(f, tracepoint_set_at(i)->name, tracepoint_set_at(i)->text, err);
	if (!name)
		return got;
	got = read_file(name, &text, err);
	if (got >= 0)
		got = add_text(f, name, arena_str(&f->arena, buf_str(&text)), err);
	buf_done(&text);
	return got;
}

int tracepoint_files_list(struct tracepoint_files *f, const char *names, struct error *err)
{
	struct str rest = str_of(names ? names : ""), one;
	int got = 0;

	if (!names)
		return tracepoint_files_add(f, NULL, err);
	while (rest.n && got >= 0) {
		size_t n = str_find_char(rest, ',');

		one = str_trim(str_head(rest, n));
		rest = str_skip(rest, n + 1);
		if (one.n)
			got = tracepoint_files_add(f, arena_z(&f->arena, one), err);
	}
	return got;
}

void tracepoint_files_done(struct tracepoint_files *f)
{
	vec_done(&f->v);
	arena_done(&f->arena);
}
