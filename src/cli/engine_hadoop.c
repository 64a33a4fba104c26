/*
 * Hadoop Streaming, as the machine's own Hadoop is configured: on YARN, or without a cluster in the
 * job client itself. Sorting is what it does anyway: in the first job all records go to one
 * identity reducer, and what it wrote is fetched. In the second one records of chains go through
 * cat, and those of one chain, which begin with the same eight digits, to one reducer.
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

/* A step that needs plan and models. */
static const char *step(struct engine_job *j, const char *name)
{
	struct buf b = { 0 };
	const char *made;

	buf_fmt(&b, "%s step %s --plan plan", engine_is_sent(j) ? "culprit" : j->program, name);
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
	define(words, "textinputformat.record.delimiter=\n");
	define(words, "mapreduce.map.output.compress=true");
	define(words, "mapreduce.output.fileoutputformat.compress=true");
	define(words, "mapreduce.output.fileoutputformat.compress.codec="
		      "org.apache.hadoop.io.compress.GzipCodec");
}

/* A Hadoop that can be used, and what is written below while it works: in the user's folder of its
 * file system. */
struct hadoop {
	const char *program, *jar, *out;
};

static int find_all(struct engine_job *j, struct hadoop *h, struct error *err)
{
	h->program = find_hadoop(j);
	h->jar = h->program ? find_streaming(j, h->program) : NULL;
	h->out = strrchr(j->folder, '/') + 1;
	if (!h->program)
		return error_set(err, ENOENT, "no hadoop is on PATH or in HADOOP_HOME");
	if (!h->jar)
		return error_set(
			err, ENOENT,
			"this Hadoop has no hadoop-streaming jar; name one in "
			"HADOOP_STREAMING_JAR (Maven: org.apache.hadoop:hadoop-streaming)");
	return 0;
}

static void begin_job(struct engine_job *j, const struct hadoop *h, const char *nr_reducers,
		      struct engine_words *words)
{
	engine_say(words, h->program);
	engine_say(words, "jar");
	engine_say(words, h->jar);
	define_all(words);
	define(words, nr_reducers);
	define(words, "mapreduce.partition.keypartitioner.options=-k1.1,1.8");
	engine_say(words, "-files");
	engine_say(words, sent_files(j));
	engine_say(words, "-output");
	engine_say(words, h->out);
}

static int run_words(struct engine_job *j, struct engine_words *words, struct error *err)
{
	int got;

	engine_say(words, NULL);
	got = engine_run(j, words->of.v, j->log, err);
	vec_done(&words->of);
	return got < 0 && got != -EINTR ? engine_blame_log(j, "Hadoop", err) : got;
}

static int map_all(struct engine_job *j, const struct hadoop *h, struct error *err)
{
	const char *program = engine_is_sent(j) ? "culprit" : j->program;
	struct engine_words words = { 0 };

	begin_job(j, h, "mapreduce.job.reduces=1", &words);
	for (size_t i = 0; i < j->plan->files.nr; i++) {
		const char *uri = j->plan->files.v[i].uri;

		if (!*uri)
			continue;
		engine_say(&words, "-input");
		engine_say(&words,
			   *uri == '/' ? arena_z(&j->arena, arena_fmt(&j->arena, "file://%s", uri))
				       : uri);
	}
	engine_say(&words, "-mapper");
	engine_say(&words, step(j, "map"));
	engine_say(&words, "-combiner");
	engine_say(&words, arena_z(&j->arena, arena_fmt(&j->arena, "%s step combine", program)));
	engine_say(&words, "-reducer");
	engine_say(&words, "org.apache.hadoop.mapred.lib.IdentityReducer");
	return run_words(j, &words, err);
}

static int reduce_all(struct engine_job *j, const struct hadoop *h, const char *chains,
		      struct error *err)
{
	struct engine_words words = { 0 };

	begin_job(j, h,
		  arena_z(&j->arena,
			  arena_fmt(&j->arena, "mapreduce.job.reduces=%u", j->nr_reducers)),
		  &words);
	engine_say(&words, "-input");
	engine_say(&words, chains);
	engine_say(&words, "-mapper");
	engine_say(&words, "/bin/cat");
	engine_say(&words, "-partitioner");
	engine_say(&words, "org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner");
	engine_say(&words, "-reducer");
	engine_say(&words, step(j, "reduce"));
	return run_words(j, &words, err);
}

/* What the job wrote, here, and gone there. */
static int fetch(struct engine_job *j, const struct hadoop *h, int got, const char *to,
		 struct error *err)
{
	const char *parts = arena_z(&j->arena, arena_fmt(&j->arena, "%s/part-*", h->out));
	const char *const cat[] = { h->program, "fs", "-cat", parts, NULL };
	const char *const clear[] = { h->program, "fs", "-rm", "-r", "-skipTrash", h->out, NULL };
	struct error later;

	if (got >= 0)
		got = engine_run(j, cat, to, err);
	engine_run(j, clear, j->log, &later);
	return got;
}

static int run(struct engine_job *j, struct error *err)
{
	struct hadoop h;
	int got = find_all(j, &h, err);

	return got < 0 ? got : fetch(j, &h, map_all(j, &h, err), j->records, err);
}

static int reduce(struct engine_job *j, struct error *err)
{
	struct hadoop h;
	int got = find_all(j, &h, err);
	const char *chains = arena_z(&j->arena, arena_fmt(&j->arena, "%s.chains", h.out));
	const char *const put[] = { h.program, "fs", "-put", j->chains, chains, NULL };
	const char *const clear[] = { h.program, "fs", "-rm", "-skipTrash", chains, NULL };
	struct error later;

	if (got < 0)
		return got;
	got = engine_run(j, put, j->log, err);
	if (got >= 0)
		got = fetch(j, &h, reduce_all(j, &h, chains, err), j->fragments, err);
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
		return error_set(err, ENOENT, "no hadoop is on PATH or in HADOOP_HOME");
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

const struct engine engine_hadoop = { "hadoop", run, reduce, look };
