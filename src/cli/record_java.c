#include "cli/record_java.h"

#include <errno.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/live_points.h"
#include "cli/option.h"
#include "cli/say.h"
#include "cli/tracepoint_files.h"

#define SETS "rpc" /* unless others are named */
#define LINES "logs"

static void told_say(void *to, struct buf *lines)
{
	struct str left = buf_str(lines), line;

	(void)to;
	while (str_take_line(&left, &line))
		say_error(STR_FMT, STR_ARG(line));
	buf_clear(lines);
}

/* Of what is defined twice the later one counts. */
static int files_add(struct record_java *j, const char *names, struct buf *told, struct error *err)
{
	struct tracepoint_files files = { 0 };
	int got = tracepoint_files_list(&files, names, err);

	for (size_t i = 0; got >= 0 && i < files.v.nr; i++)
		for (size_t k = 0; k < files.v.v[i].nr; k++) {
			const struct tracepoint *t = &files.v.v[i].v[k];

			if (tracepoints_find(files.v.v, files.v.nr, t->name) == t)
				trace_points_add(&j->points, t, told);
		}
	tracepoint_files_done(&files);
	return got;
}

/* Commas also stand between types: those in brackets do not count. */
static int methods_add(struct record_java *j, struct str left, struct error *err)
{
	int got = 0;

	while (left.n && got >= 0) {
		size_t n = 0;
		int depth = 0;

		for (; n < left.n && (left.p[n] != ',' || depth); n++)
			depth += left.p[n] == '(' ? 1 : left.p[n] == ')' ? -1 : 0;
		got = trace_points_method(&j->points, str_trim(str_head(left, n)), err);
		left = str_skip(left, n + 1);
	}
	return got;
}

static int points_read(struct record_java *j, const struct call *call, struct error *err)
{
	const char *files = call_get(call, "tracepoints"), *methods = call_get(call, "span");
	struct buf told = { 0 };
	int got = 0;

	if (methods)
		got = methods_add(j, str_of(methods), err);
	j->points.are_offered = !files;
	if (got >= 0 && (files || !methods))
		got = files_add(j, files ? files : SETS, &told, err);
	j->points.are_offered = true;
	if (got >= 0 && !call_has(call, "no-lines"))
		got = files_add(j, LINES, &told, err);
	told_say(NULL, &told);
	buf_done(&told);
	trace_points_settle(&j->points);
	return got;
}

int record_java_read(struct record_java *j, const struct call *call, struct error *err)
{
	int nr = live_pids(call, j->pids, RECORD_PIDS, err);
	int got = nr < 0 ? nr : points_read(j, call, err);

	j->options = (struct trace_options){ .pids = j->pids,
					     .nr_pids = (size_t)(nr < 0 ? 0 : nr),
					     .points = &j->points,
					     .overhead = 0.05,
					     .told = told_say };
	if (got >= 0)
		got = option_share(call, "overhead", &j->options.overhead, err);
	if (got >= 0 && !nr)
		got = error_set(err, EINVAL, "--jvm needs Java machines: --pid PID");
	if (got >= 0 && !trace_points_have_spans(&j->points))
		got = error_set(err, EINVAL,
				"no method of a class is named: --span a.b.C.method, or "
				"--tracepoints");
	return got;
}

void record_java_done(struct record_java *j)
{
	trace_points_done(&j->points);
}
