#include "cli/engine_far.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "cli/engine.h"
#include "cli/engine_plan.h"

bool far_is(const char *input)
{
	const char *at = strstr(input, "://");

	return at && at > input && strncmp(input, "file://", 7) != 0;
}

/* The folder that stands for the one above an input. */
static const char *mirror_of(struct engine_job *j, size_t nr)
{
	char name[32];

	snprintf(name, sizeof(name), "far-%zu", nr);
	return engine_below(j, name);
}

/* The input without slashes at its end, and where its last name begins. */
static struct str trim(const char *input, size_t *last)
{
	struct str s = str_of(input);

	while (s.n > 1 && s.p[s.n - 1] == '/')
		s.n--;
	for (*last = s.n; *last && s.p[*last - 1] != '/'; (*last)--)
		;
	return s;
}

static int make_folders(char *path, struct error *err)
{
	for (char *at = path + 1; (at = strchr(at, '/')); at++) {
		*at = 0;
		if (mkdir(path, 0700) && errno != EEXIST)
			return error_set(err, errno, "cannot make '%s': %s", path, strerror(errno));
		*at = '/';
	}
	return 0;
}

/* A file as long and as old as the far one, of which only the beginning is there. */
static int place(const char *head, char *path, uint64_t bytes, uint64_t mtime, struct error *err)
{
	const struct timespec times[2] = { { .tv_sec = (time_t)mtime },
					   { .tv_sec = (time_t)mtime } };
	int got = make_folders(path, err);

	if (got < 0)
		return got;
	if (rename(head, path) || truncate(path, (off_t)bytes) ||
	    utimensat(AT_FDCWD, path, times, 0))
		return error_set(err, errno, "cannot write '%s': %s", path, strerror(errno));
	return 0;
}

/* "BYTES SECONDS URI", tabs between. */
static int place_listed(struct engine_job *j, size_t nr, struct str above, size_t line_nr,
			struct str line, struct error *err)
{
	uint64_t bytes, mtime;
	char name[32];
	size_t at;

	if (!str_take_uint(&line, &bytes) || !str_take_char(&line, '\t') ||
	    !str_take_uint(&line, &mtime) || !str_take_char(&line, '\t'))
		return error_set(err, EBADMSG, "the engine lists files in a way that is not known");
	at = engine_path_of(line);
	line = str_skip(line, at);
	above = str_skip(above, engine_path_of(above));
	if (!str_take(&line, above) || str_find(line, STR("../")) < line.n)
		return error_set(err, EBADMSG, "the engine lists a file that was not asked for");
	snprintf(name, sizeof(name), "head-%zu", line_nr);
	return place(engine_below(j, name),
		     arena_z(&j->arena,
			     arena_fmt(&j->arena, "%s/" STR_FMT, mirror_of(j, nr), STR_ARG(line))),
		     bytes, mtime, err);
}

static int mirror(struct engine_job *j, const struct engine *e, const char *input, size_t nr,
		  struct error *err)
{
	size_t last, line_nr = 0;
	struct str s = trim(input, &last);
	const char *listing = engine_below(j, "listing");
	cleanup(fclose) FILE *f = NULL;
	char line[8192];
	int got;

	unlink(listing);
	got = e->look(j, arena_z(&j->arena, s), listing, err);
	if (got < 0)
		return got;
	f = fopen(listing, "re");
	while (f && got >= 0 && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		got = place_listed(j, nr, str_head(s, last), line_nr++, str_of(line), err);
	}
	if (got >= 0 && !line_nr)
		got = error_set(err, ENOENT, "'%s' is not there, or empty", input);
	return got;
}

int far_mirror(struct engine_job *j, const struct engine *e, char *const *inputs, size_t nr,
	       char **mirrored, struct error *err)
{
	int got = 0;

	for (size_t i = 0; i < nr && got >= 0; i++) {
		size_t last;
		struct str s = trim(inputs[i], &last);

		mirrored[i] = inputs[i];
		if (!strncmp(inputs[i], "file://", 7))
			mirrored[i] = inputs[i] + 7;
		if (!far_is(inputs[i]))
			continue;
		got = mirror(j, e, inputs[i], i, err);
		s = str_skip(s, last);
		mirrored[i] = arena_z(&j->arena, arena_fmt(&j->arena, "%s/" STR_FMT,
							   mirror_of(j, i), STR_ARG(s)));
	}
	return got;
}

void far_name(struct engine_job *j, char *const *inputs, size_t nr, struct plan *p)
{
	for (size_t i = 0; i < nr; i++) {
		size_t last;
		struct str above = trim(inputs[i], &last);
		struct str root = arena_fmt(&j->arena, "%s/", mirror_of(j, i));

		above = str_head(above, last);
		for (size_t k = 0; far_is(inputs[i]) && k < p->files.nr; k++) {
			struct plan_file *f = &p->files.v[k];
			struct str rest = str_of(f->path);
			bool is_named_whole = !strcmp(f->name, f->path);

			if (!str_take(&rest, root))
				continue;
			f->path = arena_z(&p->arena, arena_fmt(&p->arena, STR_FMT STR_FMT,
							       STR_ARG(above), STR_ARG(rest)));
			if (*f->uri)
				f->uri = f->path;
			if (is_named_whole)
				f->name = f->path;
			f->mark = 0;
		}
	}
}
