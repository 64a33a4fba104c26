#include "cli/models.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/learn_image.h"
#include "infer/requests/match.h"
#include "infer/requests/match_pack.h"
#include "model/event.h"
#include "model/loss.h"
#include "program/model_file.h"
#include "store/store.h"

enum { LOOK_MAX = 1000, LOOK_DEPTH = 12 }; /* files and folders, to see what a folder is made of */

static bool is_class_name(const char *name)
{
	static const struct str endings[] = { { ".jar", 4 }, { ".war", 4 }, { ".class", 6 } };

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
		if (str_ends(str_of(name), endings[i]))
			return true;
	return false;
}

static bool is_log_name(const char *name)
{
	return strstr(name, ".log") || strstr(name, ".out") || strstr(name, "syslog") ||
	       strstr(name, "stderr") || strstr(name, "stdout");
}

struct look {
	unsigned nr, nr_classes, nr_logs;
};

static void look_at(struct look *l, const char *folder, unsigned depth)
{
	DIR *d = opendir(folder);
	struct dirent *e;

	while (d && l->nr < LOOK_MAX && (e = readdir(d))) {
		char path[4096];
		struct stat st;

		if (e->d_name[0] == '.' ||
		    snprintf(path, sizeof(path), "%s/%s", folder, e->d_name) >= (int)sizeof(path) ||
		    lstat(path, &st))
			continue;
		if (S_ISDIR(st.st_mode) && depth < LOOK_DEPTH)
			look_at(l, path, depth + 1);
		if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
			continue;
		l->nr++;
		if (is_class_name(e->d_name))
			l->nr_classes++;
		else
			l->nr_logs += is_log_name(e->d_name);
	}
	if (d)
		closedir(d);
}

/* Most of what lies in a folder of jars or classes is just that, and no logs beside them. */
bool models_is_program(const char *path)
{
	struct look l = { 0 };
	struct stat st;

	if (stat(path, &st))
		return false;
	if (S_ISREG(st.st_mode))
		return is_class_name(path) || model_is_model(path);
	if (!S_ISDIR(st.st_mode))
		return false;
	look_at(&l, path, 0);
	return !l.nr_logs && 2 * l.nr_classes > l.nr;
}

struct opening {
	struct models *ms;
	VEC(const char *) programs; /* to be learned */
	struct arena arena;
};

static int add_model(struct models *ms, const char *path, struct error *err)
{
	int got;

	if (ms->nr == MODELS_MAX)
		return error_set(err, E2BIG, "more than %d models at once", MODELS_MAX);
	got = model_open(&ms->v[ms->nr], path, err);
	if (got >= 0)
		ms->nr++;
	return got;
}

static int add(struct opening *o, const char *path, struct error *err)
{
	buf_fmt(&o->ms->names, "%s%s", o->ms->names.n ? ", " : "", path);
	if (models_is_program(path) && !model_is_model(path)) {
		vec_push(&o->programs, path);
		return 0;
	}
	if (!access(path, F_OK) && !model_is_model(path))
		return error_set(err, EINVAL,
				 "'%s' is neither a model nor a program; make one: culprit learn "
				 "lib/ -o %s.model",
				 path, path);
	return add_model(o->ms, path, err);
}

/* Values stand with commas between them; a name may hold one itself. */
static int add_named(struct opening *o, const char *value, struct error *err)
{
	struct str rest = str_of(value), one;
	int got = 0;

	if (!access(value, F_OK))
		return add(o, value, err);
	while (got >= 0 && rest.n) {
		one = str_head(rest, str_find_char(rest, ','));
		rest = str_skip(rest, one.n + 1);
		got = one.n ? add(o, arena_z(&o->arena, one), err) : 0;
	}
	return got;
}

/* All programs together are one: what runs together calls each other. */
static int learn_programs(struct opening *o, struct error *err)
{
	const struct learn_asked asked = { 0 };
	struct models *ms = o->ms;
	int got;

	if (!o->programs.nr)
		return 0;
	if (ms->nr == MODELS_MAX)
		return error_set(err, E2BIG, "more than %d models at once", MODELS_MAX);
	got = learn_image(o->programs.v, o->programs.nr, &asked, &ms->image, err);
	if (got >= 0)
		got = model_of_bytes(&ms->v[ms->nr], buf_str(&ms->image), err);
	if (got >= 0)
		ms->nr++;
	return got;
}

int models_open(struct models *ms, const struct call *call, char *const *inputs, size_t nr,
		struct error *err)
{
	struct opening o = { .ms = ms };
	const char *named = call_get(call, "model");
	int got = named ? add_named(&o, named, err) : 0;

	for (size_t i = 0; i < nr && got >= 0; i++)
		if (models_is_program(inputs[i]))
			got = add(&o, inputs[i], err);
	if (got >= 0)
		got = learn_programs(&o, err);
	if (got >= 0 && ms->nr)
		got = matcher_new(&ms->matcher, (const struct model_file *const *)ms->v, ms->nr,
				  err);
	if (got >= 0 && ms->matcher)
		ms->statements = (struct statements){ ms->matcher, match_event, true };
	vec_done(&o.programs);
	arena_done(&o.arena);
	return got;
}

void models_close(struct models *ms)
{
	matcher_free(ms->matcher);
	for (unsigned i = 0; i < ms->nr; i++)
		model_close(ms->v[i]);
	buf_done(&ms->image);
	buf_done(&ms->names);
	*ms = (struct models){ 0 };
}

void models_losses(const struct models *ms, struct losses *losses)
{
	if (ms->image.n && ms->nr)
		model_losses(ms->v[ms->nr - 1], losses);
}

void models_count(struct models *ms, const struct event *events, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		ms->nr_lines += events[i].kind == EVENT_LOG;
		ms->nr_found += events[i].statement != 0;
	}
}

static int keep_number(struct store *s, const char *name, uint64_t n, struct error *err)
{
	char digits[24];
	int nr = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);

	return store_set_fact(s, name, (struct str){ digits, (size_t)nr }, err);
}

int models_keep(const struct models *ms, struct store *s, struct error *err)
{
	int got = ms->matcher ? store_set_fact(s, FACT_MODELS, buf_str(&ms->names), err) : 0;

	if (got >= 0 && ms->matcher)
		got = keep_number(s, FACT_LINES_ASKED, ms->nr_lines, err);
	if (got >= 0 && ms->matcher)
		got = keep_number(s, FACT_LINES_OF_STATEMENTS, ms->nr_found, err);
	return got;
}
