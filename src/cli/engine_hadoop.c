/*
 * Hadoop Streaming, as the machine's own Hadoop is configured: on YARN, or without a cluster in the
 * job client itself. Sorting is what it does anyway: all records go to one identity reducer, and
 * what it wrote is fetched.
 */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "cli/engine.h"
#include "cli/engine_plan.h"

static const char *find_hadoop(struct engine_job *j)
{
	const char *home = getenv("HADOOP_HOME");
	const char *const folders[] = {
		home ? arena_z(&j->arena, arena_fmt(&j->arena, "%s/bin", home)) : "", NULL
	};

	return engine_find(j, "hadoop", folders);
}

/* A Hadoop carries it; one made of jars alone does not. */
static const char *find_streaming(struct engine_job *j, const char *hadoop)
{
	const char *named = getenv("HADOOP_STREAMING_JAR"), *home = getenv("HADOOP_HOME");
	struct str above = str_head(str_of(hadoop), (size_t)(strrchr(hadoop, '/') - hadoop));
	const char *pattern, *found = NULL;
	glob_t g;

	if (named && *named)
		return named;
	pattern = home ? arena_z(&j->arena, arena_fmt(&j->arena,
						      "%s/share/hadoop/tools/lib/"
						      "hadoop-streaming-[0-9]*.jar",
						      home))
		       : arena_z(&j->arena, arena_fmt(&j->arena,
						      STR_FMT "/../share/hadoop/tools/lib/"
							      "hadoop-streaming-[0-9]*.jar",
						      STR_ARG(above)));
	if (!glob(pattern, 0, NULL, &g) && g.gl_pathc)
		found = arena_z(&j->arena, str_of(g.gl_pathv[0]));
	globfree(&g);
	return found;
}

static const char *mapper(struct engine_job *j)
{
	struct buf b = { 0 };
	const char *made;

	buf_fmt(&b, "%s step map --plan plan", engine_is_sent(j) ? "culprit" : j->program);
	for (size_t i = 0; i < j->models.nr; i++)
		buf_fmt(&b, "%smodel-%zu", i ? "," : " --model ", i);
	made = arena_z(&j->arena, buf_str(&b));
	buf_done(&b);
	return made;
}

/* What workers find in their folder, by its own name. */
static const char *sent_files(struct engine_job *j)
{
	struct buf b = { 0 };
	const char *made;

	buf_fmt(&b, "file://%s", j->plan_path);
	if (engine_is_sent(j))
		buf_fmt(&b, ",file://%s", j->program);
	for (size_t i = 0; i < j->models.nr; i++)
		buf_fmt(&b, ",file://%s", j->models.v[i]);
	made = arena_z(&j->arena, buf_str(&b));
	buf_done(&b);
	return made;
}

static void define(struct engine_words *words, const char *setting)
{
	engine_say(words, "-D");
	engine_say(words, setting);
}

/* Lines end with \n alone, so that what stands in front of it stays; records are packed on their
 * way. */
static void define_all(struct engine_words *words)
{
	define(words, "mapreduce.job.name=culprit");
	define(words, "mapreduce.job.reduces=1");
	define(words, "textinputformat.record.delimiter=\n");
	define(words, "mapreduce.map.output.compress=true");
	define(words, "mapreduce.output.fileoutputformat.compress=true");
	define(words, "mapreduce.output.fileoutputformat.compress.codec="
		      "org.apache.hadoop.io.compress.GzipCodec");
}

static int run_job(struct engine_job *j, const char *hadoop, const char *jar, const char *out,
		   struct error *err)
{
	const char *program = engine_is_sent(j) ? "culprit" : j->program;
	struct engine_words words = { 0 };
	int got;

	engine_say(&words, hadoop);
	engine_say(&words, "jar");
	engine_say(&words, jar);
	define_all(&words);
	engine_say(&words, "-files");
	engine_say(&words, sent_files(j));
	for (size_t i = 0; i < j->plan->files.nr; i++) {
		const char *uri = j->plan->files.v[i].uri;

		if (!*uri)
			continue;
		engine_say(&words, "-input");
		engine_say(&words,
			   *uri == '/' ? arena_z(&j->arena, arena_fmt(&j->arena, "file://%s", uri))
				       : uri);
	}
	engine_say(&words, "-output");
	engine_say(&words, out);
	engine_say(&words, "-mapper");
	engine_say(&words, mapper(j));
	engine_say(&words, "-combiner");
	engine_say(&words, arena_z(&j->arena, arena_fmt(&j->arena, "%s step combine", program)));
	engine_say(&words, "-reducer");
	engine_say(&words, "org.apache.hadoop.mapred.lib.IdentityReducer");
	engine_say(&words, NULL);
	got = engine_run(j, words.of.v, j->log, err);
	vec_done(&words.of);
	return got < 0 && got != -EINTR ? engine_blame_log(j, "Hadoop", err) : got;
}

static int no_hadoop(struct error *err)
{
	return error_set(err, ENOENT, "no hadoop is on PATH or in HADOOP_HOME");
}

static int run(struct engine_job *j, struct error *err)
{
	const char *hadoop = find_hadoop(j), *jar = hadoop ? find_streaming(j, hadoop) : NULL;
	const char *out = strrchr(j->folder, '/') + 1; /* in the user's folder of its file system */
	const char *parts = arena_z(&j->arena, arena_fmt(&j->arena, "%s/part-*", out));
	const char *const fetch[] = { hadoop, "fs", "-cat", parts, NULL };
	const char *const clear[] = { hadoop, "fs", "-rm", "-r", "-skipTrash", out, NULL };
	struct error later;
	int got;

	if (!hadoop)
		return no_hadoop(err);
	if (!jar)
		return error_set(
			err, ENOENT,
			"this Hadoop has no hadoop-streaming jar; name one in "
			"HADOOP_STREAMING_JAR (Maven: org.apache.hadoop:hadoop-streaming)");
	got = run_job(j, hadoop, jar, out, err);
	if (got >= 0)
		got = engine_run(j, fetch, j->records, err);
	engine_run(j, clear, j->log, &later);
	return got;
}

/* "-rw-r--r--   3 user group   1234 2024-05-01 10:00 hdfs://…/nn.log"; folders and what is empty or
 * hidden are left out. */
static bool take_listed(struct str line, struct str *bytes, struct str *uri, int64_t *seconds)
{
	struct str word[7];
	struct tm tm = { 0 };
	char when[32];

	if (!str_starts(line, STR("-")))
		return false;
	for (size_t i = 0; i < 7; i++)
		if (!str_take_word(&line, &word[i]))
			return false;
	*bytes = word[4];
	*uri = str_trim(line);
	snprintf(when, sizeof(when), STR_FMT " " STR_FMT, STR_ARG(str_head(word[5], 12)),
		 STR_ARG(str_head(word[6], 12)));
	tm.tm_isdst = -1;
	*seconds = strptime(when, "%Y-%m-%d %H:%M", &tm) ? (int64_t)mktime(&tm) : 0;
	return uri->n && !str_eq(*bytes, STR("0")) && str_find(*uri, STR("/.")) == uri->n &&
	       str_find(*uri, STR("/_")) == uri->n;
}

/* The shell ends the program when enough has come. */
static int fetch_head(struct engine_job *j, const char *hadoop, const char *uri, size_t nr,
		      struct error *err)
{
	char name[32];
	const char *const words[] = { "/bin/sh", "-c", "\"$0\" fs -cat \"$1\" | head -c \"$2\"",
				      hadoop,    uri,  "524288",
				      NULL };

	snprintf(name, sizeof(name), "head-%zu", nr);
	return engine_run(j, words, engine_below(j, name), err);
}

static int look(struct engine_job *j, const char *uri, const char *listing, struct error *err)
{
	const char *hadoop = find_hadoop(j), *all = engine_below(j, "wanted");
	const char *const list[] = { hadoop, "fs", "-ls", "-R", uri, NULL };
	cleanup(fclose) FILE *in = NULL, *out = NULL;
	char line[8192];
	size_t nr = 0;
	int got;

	if (!hadoop)
		return no_hadoop(err);
	unlink(all);
	got = engine_run(j, list, all, err);
	if (got < 0)
		return got == -EINTR ? got : engine_blame_log(j, "Hadoop", err);
	in = fopen(all, "re");
	out = fopen(listing, "we");
	if (!in || !out)
		return error_set(err, errno, "cannot write '%s'", listing);
	while (got >= 0 && fgets(line, sizeof(line), in)) {
		struct str bytes, one;
		int64_t seconds;

		if (!take_listed(str_of(line), &bytes, &one, &seconds))
			continue;
		fprintf(out, STR_FMT "\t%lld\t" STR_FMT "\n", STR_ARG(bytes),
			(long long)(seconds > 0 ? seconds : 0), STR_ARG(one));
		got = fetch_head(j, hadoop, arena_z(&j->arena, one), nr++, err);
	}
	return got;
}

const struct engine engine_hadoop = { "hadoop", run, look };
