#include "cli/query_explain.h"

#include "base/arena.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/query_measure.h"
#include "cli/say.h"
#include "cli/show.h"
#include "cli/stopping.h"
#include "cli/tracepoint_files.h"
#include "model/live.h"
#include "query/live_explain.h"
#include "query/parse.h"
#include "query/plan.h"
#include "report/advice.h"
#include "report/report.h"

static void pass_over(void *to, const struct live_advice *a)
{
	(void)to;
	(void)a;
}

static int check(const struct live_known *known, const char *text, struct error *err)
{
	return live_explain_query(known, str_of(text), NULL, pass_over, NULL, err);
}

bool query_is_fine(const struct call *call, const char *text)
{
	struct tracepoint_files files = { 0 };
	struct error err = { 0 };
	int got = tracepoint_files_list(&files, call_get(call, "tracepoints"), &err);
	const struct live_known known = { files.v.v, files.v.nr };

	if (got >= 0)
		got = check(&known, text, &err);
	if (got < 0)
		say_error("%s", err.msg);
	tracepoint_files_done(&files);
	return got >= 0;
}

static int measure(const struct call *call, const struct live_known *known, const char *text,
		   double *per_second, struct error *err)
{
	struct arena arena = { 0 };
	struct queries queries;
	struct plan plan;
	int got = query_parse(str_of(text), &arena, &queries, err);

	if (got >= 0)
		got = query_plan(&plan, &queries, REWRITE_ALL, &arena, err);
	if (got >= 0) {
		got = query_measure(call, known, &plan, per_second, err);
		query_plan_done(&plan);
	}
	arena_done(&arena);
	return got;
}

/* --- telling ---------------------------------------------------------------------------------- */

static void tell(void *to, const struct live_advice *a)
{
	advice_report(to, a);
}

int query_explain(const struct call *call, const char *text)
{
	bool is_measured = call_has(call, "measure");
	double per_second[STAGES_MAX] = { 0 };
	struct tracepoint_files files = { 0 };
	struct report report;
	struct error err = { 0 };
	int got = tracepoint_files_list(&files, call_get(call, "tracepoints"), &err);
	const struct live_known known = { files.v.v, files.v.nr };

	report_init(&report);
	stopping_catch();
	if (got >= 0)
		got = check(&known, text, &err);
	if (got >= 0 && is_measured)
		got = measure(call, &known, text, per_second, &err);
	if (got >= 0)
		got = live_explain_query(&known, str_of(text), is_measured ? per_second : NULL,
					 tell, &report, &err);
	if (got >= 0)
		got = show_report(&report, call, &err);
	if (got < 0)
		say_error("%s", err.msg);
	report_done(&report);
	tracepoint_files_done(&files);
	return got < 0 ? EXIT_CANNOT : EXIT_ANSWERED;
}
