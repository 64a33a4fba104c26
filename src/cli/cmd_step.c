/* culprit step plan|map|combine|shuffle|reduce|merge: what "analyze --on" has an engine do, one
 * step at a time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/engine_map.h"
#include "cli/engine_merge.h"
#include "cli/engine_plan.h"
#include "cli/engine_reduce.h"
#include "cli/models.h"
#include "cli/say.h"
#include "infer/requests/requests.h"
#include "infer/requests/shuffle.h"
#include "infer/requests/sight.h"
#include "store/store.h"

static int read_plan(const struct call *call, struct plan *p, struct error *err)
{
	const char *path = call_get(call, "plan");

	if (!path)
		return error_set(err, EINVAL,
				 "which plan? --plan FILE (culprit step plan makes it)");
	return plan_read(p, path, err);
}

/* Times without a zone are of the driver's, wherever this worker stands. */
static void stand_where_driver_does(const struct plan *p)
{
	if (*p->timezone)
		setenv("TZ", p->timezone, 1);
	tzset();
}

static int check_models(const struct plan *p, const struct models *ms, const struct call *call,
			struct error *err)
{
	bool same = ms->nr == p->models.nr;

	for (unsigned i = 0; same && i < ms->nr; i++)
		same = plan_model_mark(ms->v[i]) == p->models.v[i];
	if (same)
		return 0;
	return error_set(err, EINVAL, "the plan was made with %zu model%s, and %s", p->models.nr,
			 p->models.nr == 1 ? "" : "s",
			 call_get(call, "model") ? "what this worker has is something else"
						 : "this worker was given none (--model)");
}

/* Where the lines on standard input stand: told, or as Hadoop tells its mappers. */
static int find_part(const struct call *call, const struct plan *p, uint32_t *file, uint64_t *part,
		     struct error *err)
{
	const char *uri = call_get(call, "file"), *from = call_get(call, "offset");
	struct str digits;
	int64_t nr;

	uri = uri ? uri : getenv("mapreduce_map_input_file");
	from = from ? from : getenv("mapreduce_map_input_start");
	if (!uri || !from)
		return error_set(err, EINVAL, "which part is it? --file NAME --offset BYTES");
	digits = str_of(from);
	if (!str_take_uint(&digits, part) || digits.n)
		return error_set(err, EINVAL, "--offset '%s' is no number", from);
	nr = plan_find(p, str_of(uri));
	if (nr < 0)
		return error_set(err, ENOENT, "the plan has no file '%s' for workers", uri);
	*file = (uint32_t)nr;
	return 0;
}

static int step_map(const struct call *call, struct error *err)
{
	struct plan p = { 0 };
	struct models ms = { 0 };
	uint32_t file = 0;
	uint64_t part = 0;
	int got = read_plan(call, &p, err);

	if (got >= 0)
		got = models_open(&ms, call, NULL, 0, err);
	if (got >= 0)
		got = check_models(&p, &ms, call, err);
	if (got >= 0 && !call_has(call, "frames"))
		got = find_part(call, &p, &file, &part, err);
	if (got >= 0) {
		const struct statements st = { ms.matcher,     sight_event,  ms.matcher != NULL,
					       sight_remember, sight_forget, sight_event_again };

		stand_where_driver_does(&p);
		got = call_has(call, "frames")
			      ? engine_map_frames(&p, &st, stdin, stdout, err)
			      : engine_map(&p, file, part, &st, stdin, stdout, err);
	}
	models_close(&ms);
	plan_done(&p);
	return got;
}

static int step_combine(const struct call *call, struct error *err)
{
	(void)call;
	return engine_combine(stdin, stdout, err);
}

/* Lines are dealt out, and that is all. */
static int deal(void *to, const struct shuffle *sh, struct merge *m, struct error *err)
{
	int got = engine_shuffle(sh, stdout, err);

	(void)m;
	*(bool *)to = got >= 0;
	return got < 0 ? got : -ECANCELED;
}

static int step_shuffle(const struct call *call, struct error *err)
{
	bool is_done = false;
	const struct reducers reducers = { &is_done, deal, true };
	struct store *s = NULL;
	struct plan p = { 0 };
	int got = read_plan(call, &p, err);

	if (got >= 0) {
		stand_where_driver_does(&p);
		got = engine_merge(call, &p, "-", &reducers, NULL, &s, err);
	}
	if (s)
		store_close(s);
	plan_done(&p);
	return is_done ? 0 : got;
}

static int step_reduce(const struct call *call, struct error *err)
{
	struct plan p = { 0 };
	struct models ms = { 0 };
	int got = read_plan(call, &p, err);

	if (got >= 0)
		got = models_open(&ms, call, NULL, 0, err);
	if (got >= 0)
		got = check_models(&p, &ms, call, err);
	if (got >= 0)
		got = engine_reduce(ms.matcher, "-", stdout, err);
	models_close(&ms);
	plan_done(&p);
	return got;
}

static int read_fragments(void *to, const struct shuffle *sh, struct merge *m, struct error *err)
{
	(void)sh;
	return engine_fragments(to, m, err);
}

static int step_merge(const struct call *call, struct error *err)
{
	const char *path = call_get(call, "output"), *fragments = call_get(call, "fragments");
	const struct reducers reducers = { (void *)fragments, read_fragments, false };
	struct store *s = NULL;
	struct plan p = { 0 };
	int got = read_plan(call, &p, err);

	if (got >= 0) {
		stand_where_driver_does(&p);
		got = engine_merge(call, &p, "-", fragments ? &reducers : NULL,
				   path ? path : "run.culprit", &s, err);
	}
	if (s)
		store_close(s);
	plan_done(&p);
	return got;
}

/* Prints the files that workers are to read. */
static int step_plan(const struct call *call, struct error *err)
{
	const char *path = call_get(call, "output");
	struct plan p = { 0 };
	int got = call->nr_inputs > 1
			  ? plan_make(&p, call, call->inputs + 1, call->nr_inputs - 1, err)
			  : error_set(err, EINVAL, "a plan of which logs?");

	if (got >= 0)
		got = plan_write(&p, path ? path : "run.plan", err);
	for (size_t i = 0; i < p.files.nr && got >= 0; i++)
		if (*p.files.v[i].uri)
			printf("%s\n", p.files.v[i].uri);
	plan_done(&p);
	return got;
}

int cmd_step(const struct call *call)
{
	static const struct {
		const char *name;
		int (*run)(const struct call *call, struct error *err);
	} steps[] = { { "plan", step_plan },       { "map", step_map },
		      { "combine", step_combine }, { "shuffle", step_shuffle },
		      { "reduce", step_reduce },   { "merge", step_merge } };
	struct error err = { 0 };
	int got = error_set(&err, EINVAL,
			    "no step '%s'; there is: plan, map, combine, shuffle, reduce, merge",
			    call->inputs[0]);

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		if (!strcmp(steps[i].name, call->inputs[0]))
			got = steps[i].run(call, &err);
	if (got >= 0 && (fflush(stdout) || ferror(stdout)))
		got = error_set(&err, errno, "cannot write to standard output: %s",
				strerror(errno));
	if (got < 0)
		say_error("%s", err.msg);
	return got < 0 ? EXIT_CANNOT : EXIT_ANSWERED;
}
