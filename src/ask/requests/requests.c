#include "ask/requests/requests.h"

#include <errno.h>
#include <string.h>

#include "ask/object_level.h"
#include "ask/requests/compare.h"
#include "ask/requests/heat.h"
#include "ask/requests/lines.h"
#include "ask/requests/list.h"
#include "ask/requests/overtime.h"
#include "ask/requests/path.h"
#include "ask/requests/points.h"
#include "ask/requests/sequences.h"
#include "ask/requests/tree.h"
#include "ask/requests/why.h"
#include "ask/types.h"
#include "ask/when.h"
#include "base/error.h"
#include "report/report.h"
#include "store/store.h"

#define SLOWEST_SHOWN 5
#define TYPES_SHOWN 25
#define HOPS_SHOWN 15
#define LINES_SHOWN 1000
#define STEPS 30
#define STEPS_MOST 10000
#define HEAT_COLUMNS 200
#define HEAT_ROWS 48
#define HEAT_MOST 4096
#define POINTS_MOST 100000

/* The request that the user named: by its number, or by the name that the input gives it. */
static int find_request(struct store *s, const char *name, struct arena *arena, struct request *r,
			struct request_body *body, struct error *err)
{
	struct str text = str_of(name);
	uint64_t id;
	int found = 0;

	if (str_take_uint(&text, &id) && !text.n)
		found = store_request(s, id, arena, r, body, err);
	if (found)
		return found;
	found = store_request_by_key(s, str_of(name), &id, err);
	if (found > 0)
		found = store_request(s, id, arena, r, body, err);
	if (!found)
		return error_set(
			err, ENOENT,
			"no request '%s'; give a number of the request table, or the id that "
			"the input gives it",
			name);
	return found;
}

static int answer_compare(struct store *s, const struct args *args, const struct compared *it,
			  struct report *report, struct error *err)
{
	const char *beside = args_get(args, "beside");
	struct arena arena = { 0 };
	struct request r;
	struct request_body body;
	const struct compared other = { &r, &body };
	int got = beside ? find_request(s, beside, &arena, &r, &body, err) : 0;

	if (got >= 0)
		got = compare_report(s, it, beside ? &other : NULL, report, err);
	arena_done(&arena);
	return got;
}

static int answer_one(struct store *s, const struct args *args, struct report *report,
		      struct error *err)
{
	struct arena arena = { 0 };
	struct visits visits = { 0 };
	struct request r;
	struct request_body body;
	int got = find_request(s, args_get(args, "request"), &arena, &r, &body, err);

	if (got > 0 && args_has(args, "critical-path")) {
		path_of_one(&r, &body, report);
		got = 0;
	} else if (got > 0) {
		list_add(list_section(report, ""), &visits, &r, &body);
		if (args_has(args, "compare")) {
			got = answer_compare(s, args, &(struct compared){ &r, &body }, report, err);
		} else if (args_has(args, "why")) {
			why_report(&r, &body, report);
			got = 0;
		} else {
			got = tree_report(s, &r, &body, report, err);
		}
	}
	visits_done(&visits);
	arena_done(&arena);
	return got;
}

static int answer_types(struct store *s, const struct request_filter *f, bool for_people,
			struct report *report, struct error *err)
{
	struct types types = { 0 };
	int r = types_collect(&types, s, f, err);

	if (r >= 0)
		r = types_see_all(&types, s, f, err);
	if (r >= 0) {
		types_report(&types, report, for_people ? TYPES_SHOWN : 0);
		r = !types.nr_requests;
	}
	types_done(&types);
	return r;
}

static int answer_list(struct store *s, const struct request_filter *f, const char *title,
		       struct report *report, struct error *err)
{
	struct section *out = list_section(report, title);
	int r = list_requests(s, f, report, out, err);

	return r < 0 ? r : !out->rows.nr && !report->nr_spilled;
}

/* Without options: who reads on the screen sees types and the slowest, a script every request. */
static int answer_all(struct store *s, const struct args *args, struct request_filter *f,
		      struct report *report, struct error *err)
{
	struct request_filter slowest = *f;
	int r;

	if (!args_for_people(args))
		return answer_list(s, f, "", report, err);
	r = answer_types(s, f, true, report, err);
	if (r)
		return r;
	slowest.limit = SLOWEST_SHOWN;
	slowest.order = BY_SLOWEST;
	return answer_list(s, &slowest, "The slowest", report, err);
}

static int answer_path(struct store *s, const struct args *args, const struct request_filter *f,
		       struct report *report, struct error *err)
{
	bool people = args_for_people(args);

	if (people || args_has(args, "sum"))
		return path_summed(s, f, people ? HOPS_SHOWN : 0, report, err);
	return path_of_each(s, f, report, err);
}

static int read_limits(const struct args *args, struct request_filter *f, uint64_t *steps,
		       struct error *err)
{
	const char *level = args_get(args, "level");
	int r = args_uint(args, "limit", &f->limit, err);

	if (args_has(args, "why") && !args_has(args, "request"))
		return error_set(err, EINVAL, "--why explains one request: give --request too");
	if (args_has(args, "compare") && !args_has(args, "request"))
		return error_set(err, EINVAL, "--compare is of one request: give --request too");
	if (args_has(args, "beside") && !args_has(args, "compare"))
		return error_set(err, EINVAL, "--beside tells what to --compare with: give both");
	if (level && strcmp(level, "request") && strcmp(level, "operation") &&
	    !object_level_is(level))
		return error_set(err, EINVAL,
				 "--level takes request, operation or object, not '%s'", level);
	if (object_level_is(level) && args_has(args, "lines"))
		return error_set(err, EINVAL,
				 "--lines tells the request or the operation of a line: many "
				 "objects may share it");
	if (r >= 0 && args_has(args, "slowest")) {
		f->order = BY_SLOWEST;
		r = args_uint(args, "slowest", &f->limit, err);
	}
	if (r >= 0)
		r = args_uint(args, "steps", steps, err);
	if (r >= 0 && (!*steps || *steps > STEPS_MOST))
		r = error_set(err, EINVAL, "--steps takes a number from 1 to %d", STEPS_MOST);
	return r;
}

static int read_number(const struct args *args, const char *name, uint32_t *value, uint32_t most,
		       struct error *err)
{
	uint64_t v = *value;
	int r = args_uint(args, name, &v, err);

	if (r >= 0 && (!v || v > most))
		r = error_set(err, EINVAL, "--%s takes a number from 1 to %u", name, most);
	*value = (uint32_t)v;
	return r;
}

static int answer_heat(struct store *s, const struct args *args, const struct request_filter *f,
		       struct report *report, struct error *err)
{
	uint32_t columns = HEAT_COLUMNS, rows = HEAT_ROWS;
	int r = read_number(args, "columns", &columns, HEAT_MOST, err);

	if (r >= 0)
		r = read_number(args, "rows", &rows, HEAT_MOST, err);
	return r < 0 ? r : heat_report(s, f, columns, rows, report, err);
}

static int answer_points(struct store *s, const struct args *args, const struct request_filter *f,
			 struct report *report, struct error *err)
{
	uint32_t at_most = 1;
	int r = read_number(args, "points", &at_most, POINTS_MOST, err);

	return r < 0 ? r : points_report(s, f, at_most, report, err);
}

static int read_order(const struct args *args, struct request_filter *f, struct error *err)
{
	static const struct {
		const char *word;
		int order;
	} known[] = { { "start", BY_ID },
		      { "latest", BY_LATEST },
		      { "slowest", BY_SLOWEST },
		      { "fastest", BY_FASTEST },
		      { "type", BY_TYPE } };
	const char *given = args_get(args, "sort");
	int r = args_uint(args, "offset", &f->offset, err);

	if (r < 0 || !given)
		return r;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(given, known[i].word)) {
			f->order = known[i].order;
			return 0;
		}
	return error_set(err, EINVAL,
			 "--sort takes start, latest, slowest, fastest or type, not '%s'", given);
}

static int list_lines(struct store *s, const struct args *args, uint64_t limit,
		      struct report *report, struct error *err)
{
	const char *level = args_get(args, "level");

	return lines_report(s, level && !strcmp(level, "operation"),
			    args_for_people(args) ? LINES_SHOWN : limit, report, err);
}

static int run(struct store *const *runs, const struct args *args, struct report *report,
	       struct error *err)
{
	struct request_filter f = { 0 };
	struct store *s = runs[0];
	uint64_t steps = STEPS;
	int r = when_filter(args, s, &f, err);

	if (r >= 0)
		r = read_limits(args, &f, &steps, err);
	if (r >= 0)
		r = read_order(args, &f, err);
	if (r < 0)
		return r;
	if (args_has(args, "heat"))
		return answer_heat(s, args, &f, report, err);
	if (args_has(args, "points"))
		return answer_points(s, args, &f, report, err);
	if (args_has(args, "lines"))
		return list_lines(s, args, f.limit, report, err);
	if (args_has(args, "request"))
		return answer_one(s, args, report, err);
	if (args_has(args, "critical-path"))
		return answer_path(s, args, &f, report, err);
	if (args_has(args, "over-time"))
		return overtime_report(s, &f, steps, args_for_people(args), report, err);
	if (args_has(args, "sequences"))
		return sequences_report(s, &f, args_for_people(args), report, err);
	if (args_has(args, "types"))
		return answer_types(s, &f, false, report, err);
	if (args_has(args, "slowest") || args_has(args, "limit") || args_has(args, "sort") ||
	    args_has(args, "offset"))
		return answer_list(s, &f, "", report, err);
	return answer_all(s, args, &f, report, err);
}

static const struct option options[] = {
	{ "types", NULL, "the table by type: count, rate, errors, percentiles, nodes" },
	{ "type", "TYPE", "only this type, or the one type that has this in its name" },
	{ "slowest", "N", "only the N slowest requests, the slowest first" },
	{ "limit", "N", "only the first N requests" },
	{ "offset", "N", "leave the first N out, so that a long list is had page by page" },
	{ "sort", "ORDER", "start (default), latest, slowest, fastest or type" },
	{ "from", "TIME", "only requests that start at this time or later" },
	{ "until", "TIME", "only requests that start before this time" },
	{ "request", "ID",
	  "one request as a tree with its log lines: a number, or its id in the input" },
	{ "why", NULL,
	  "with --request: why its spans and lines are together, and how sure that is" },
	{ "compare", NULL, "with --request: the median request of its type beside it, hop by hop" },
	{ "beside", "ID", "with --compare: this request instead of the median one" },
	{ "critical-path", NULL,
	  "which span held each request up, and when; every nanosecond once" },
	{ "sum", NULL, "with --critical-path --json: summed by hop instead of one by one" },
	{ "over-time", NULL,
	  "latency and counts over time, when a slow time began, mean per node" },
	{ "steps", "N", "with --over-time: into about so many steps (default: 30)" },
	{ "heat", NULL, "counts by time and by latency, for a heat map" },
	{ "columns", "N", "with --heat: at most so many bins of time (default: 200)" },
	{ "rows", "N", "with --heat: at most so many bins of latency (default: 48)" },
	{ "points", "N", "at most N requests that stand for all in a scatter plot: peaks stay" },
	{ "sequences", NULL,
	  "log sequences: how many requests passed the same log points, and which these are" },
	{ "lines", NULL, "every log line with the request that it belongs to" },
	{ "level", "LEVEL", "request (default), object (what logs name), or operation" },
	{ 0 },
};

static const struct example examples[] = {
	{ "requests run.culprit", "all types of requests, and the slowest" },
	{ "requests run.culprit --type checkout --slowest 5", "the five slowest of one type" },
	{ "requests run.culprit --request 17", "one request as a tree with its log lines" },
	{ "requests run.culprit --request 17 --why", "why its lines are together" },
	{ "requests run.culprit --request 17 --critical-path", "what held it up" },
	{ "requests run.culprit --request 17 --compare", "what a usual one does otherwise" },
	{ "requests run.culprit --over-time --type checkout", "when it became slow" },
	{ "requests run.culprit --sequences", "which ways through the program requests took" },
	{ "requests run.culprit --lines --json", "every log line with its request" },
	{ 0 },
};

const struct question ask_requests = {
	.name = "requests",
	.summary = "list requests: by type, one by one, as trees, critical paths, over time",
	.nr_runs = 1,
	.options = options,
	.examples = examples,
	.run = run,
};
