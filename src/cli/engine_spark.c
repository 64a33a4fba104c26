/* Spark: spark-submit runs a small Python program that comes with us, the same everywhere. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "cli/engine.h"
#include "cli/engine_plan.h"

static const char script[] = {
#include "cli/engine_spark_py.h"
};

static int write_file(const char *path, struct str text, struct error *err)
{
	cleanup(fclose) FILE *f = fopen(path, "we");

	if (f && fwrite(text.p, 1, text.n, f) == text.n && !fflush(f))
		return 0;
	return error_set(err, errno, "cannot write '%s': %s", path, strerror(errno));
}

static int write_files(struct engine_job *j, const char *path, struct error *err)
{
	struct buf b = { 0 };
	int got;

	for (size_t i = 0; i < j->plan->files.nr; i++)
		if (*j->plan->files.v[i].uri)
			buf_fmt(&b, "%zu\t%s\n", i, j->plan->files.v[i].uri);
	got = write_file(path, buf_str(&b), err);
	buf_done(&b);
	return got;
}

/* A Spark from PyPI lives in a folder with its own python, which must be the one that runs. */
static void use_python_beside(struct engine_job *j, const char *submit)
{
	struct str folder = str_head(str_of(submit), (size_t)(strrchr(submit, '/') - submit));
	const char *python =
		arena_z(&j->arena, arena_fmt(&j->arena, STR_FMT "/python3", STR_ARG(folder)));
	const char *path = getenv("PATH");
	struct str with_folder =
		arena_fmt(&j->arena, STR_FMT ":%s", STR_ARG(folder), path ? path : "");

	if (access(python, X_OK))
		return;
	setenv("PYSPARK_PYTHON", python, 0);
	setenv("PYSPARK_DRIVER_PYTHON", python, 0);
	setenv("PATH", arena_z(&j->arena, with_folder), 1);
}

static const char *find_submit(struct engine_job *j)
{
	const char *home = getenv("SPARK_HOME"), *user = getenv("HOME");
	const char *bin = home ? arena_z(&j->arena, arena_fmt(&j->arena, "%s/bin", home)) : "";
	const char *cache =
		arena_z(&j->arena,
			arena_fmt(&j->arena, "%s/.cache/culprit/spark-venv/bin", user ? user : ""));
	const char *const first[] = { bin, NULL }, *const last[] = { cache, NULL };
	const char *found = engine_find(j, "spark-submit", first);

	return found ? found : engine_find(j, "spark-submit", last);
}

/* What went wrong on a worker, as the script wrote it down. */
static int explain(struct engine_job *j, const char *failure, struct error *err)
{
	cleanup(fclose) FILE *f = fopen(failure, "re");
	char text[300];
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	text[n] = 0;
	text[strcspn(text, "\n")] = 0;
	if (*text)
		return error_set(err, ECHILD, "Spark: %s", text);
	return engine_blame_log(j, "Spark", err);
}

static int submit(struct engine_job *j, const char *const *args, struct error *err)
{
	const char *spark_submit = find_submit(j), *job = engine_below(j, "job.py");
	const char *failure = engine_below(j, "failure");
	bool is_local = !*j->where || str_starts(str_of(j->where), STR("local"));
	struct engine_words words = { 0 };
	int got;

	if (!spark_submit)
		return error_set(err, ENOENT,
				 "no spark-submit is on PATH or in SPARK_HOME; a Spark for one "
				 "machine: pip install pyspark");
	use_python_beside(j, spark_submit);
	got = write_file(job, (struct str){ script, sizeof(script) }, err);
	if (got < 0)
		return got;
	engine_say(&words, spark_submit);
	engine_say(&words, "--name");
	engine_say(&words, "culprit");
	/* tasks that fail are tried again on one machine, too */
	engine_say(&words, "--master");
	engine_say(&words, *j->where ? j->where : "local[*,4]");
	if (is_local) {
		engine_say(&words, "--conf");
		engine_say(&words, "spark.driver.bindAddress=127.0.0.1");
		engine_say(&words, "--conf");
		engine_say(&words, "spark.driver.host=127.0.0.1");
		engine_say(&words, "--conf");
		engine_say(&words, "spark.ui.enabled=false");
	}
	engine_say(&words, job);
	engine_say(&words, failure);
	for (; *args; args++)
		engine_say(&words, *args);
	engine_say(&words, NULL);
	got = engine_run(j, words.of.v, j->log, err);
	if (got < 0 && got != -EINTR)
		got = explain(j, failure, err);
	vec_done(&words.of);
	return got;
}

static int run(struct engine_job *j, struct error *err)
{
	const char *files = engine_below(j, "files");
	struct engine_words args = { 0 };
	int got = write_files(j, files, err);

	engine_say(&args, "run");
	engine_say(&args, j->program);
	engine_say(&args, j->plan_path);
	engine_say(&args, j->records);
	engine_say(&args, files);
	for (size_t i = 0; i < j->models.nr; i++)
		engine_say(&args, j->models.v[i]);
	engine_say(&args, NULL);
	if (got >= 0)
		got = submit(j, args.of.v, err);
	vec_done(&args.of);
	return got;
}

static int reduce(struct engine_job *j, struct error *err)
{
	struct engine_words args = { 0 };
	int got;

	engine_say(&args, "reduce");
	engine_say(&args, j->program);
	engine_say(&args, j->plan_path);
	engine_say(&args, j->chains);
	engine_say(&args, j->fragments);
	engine_say(&args, arena_z(&j->arena, arena_fmt(&j->arena, "%u", j->nr_reducers)));
	for (size_t i = 0; i < j->models.nr; i++)
		engine_say(&args, j->models.v[i]);
	engine_say(&args, NULL);
	got = submit(j, args.of.v, err);
	vec_done(&args.of);
	return got;
}

static int look(struct engine_job *j, const char *uri, const char *listing, struct error *err)
{
	const char *const args[] = { "look", listing, engine_below(j, "head-"), uri, NULL };

	return submit(j, args, err);
}

const struct engine engine_spark = { "spark", run, reduce, look };
