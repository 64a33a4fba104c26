#include "ask/answer/answer.h"

#include "ask/anomalies.h"
#include "ask/anomaly_tell.h"
#include "ask/findings.h"
#include "ask/object_level.h"
#include "ask/object_findings.h"
#include "ask/tell.h"
#include "ask/types.h"
#include "ask/when.h"
#include "report/report.h"
#include "store/store.h"

#define TYPES_SHOWN 12
#define FINDINGS_SHOWN 3
#define ANOMALIES_SHOWN 6
#define WORTH_SHOWING 0.1 /* of the largest impact */
#define SLOW_SHARE 0.01
#define NEARLY_CERTAIN \
	0.8 /* less sure comes after objects that wait, which are told if certain \
	     */

/* Types that a finding is about stand out. */
static void report_types(const struct findings *f, struct report *report)
{
	struct section *s = types_report(&f->types, report, TYPES_SHOWN);

	s->tagged = true;
	for (size_t i = 0; i < s->rows.nr; i++)
		for (size_t j = 0; j < f->v.nr && j < FINDINGS_SHOWN; j++)
			if (f->v.v[j].verdict == VERDICT_SLOW &&
			    f->v.v[j].type == f->types.order.v[i])
				s->rows.v[i].strong = true;
}

static bool is_told(const struct findings *f, size_t i)
{
	return i < f->v.nr && i < FINDINGS_SHOWN && f->v.v[i].verdict == VERDICT_SLOW &&
	       f->v.v[i].impact >= WORTH_SHOWING * f->v.v[0].impact;
}

/* What is slow and what waits: the surer first. */
static int tell_reasons(const struct findings *f, struct store *s, const char *run,
			struct report *report, struct error *err)
{
	size_t told = 0;
	int r;

	for (; is_told(f, told) && f->v.v[told].answer.confidence >= NEARLY_CERTAIN; told++)
		tell_finding(f, &f->v.v[told], run, report);
	if (!is_told(f, 0))
		tell_nothing(f, run, report);
	r = object_findings_tell(s, run, report, err);
	for (; r >= 0 && is_told(f, told); told++)
		tell_finding(f, &f->v.v[told], run, report);
	return r;
}

static int run(struct store *const *runs, const struct args *args, struct report *report,
	       struct error *err)
{
	const char *name = args->run ? args->run : "RUN";
	struct request_filter filter = { 0 };
	struct findings f = { 0 };
	struct anomalies odd = { 0 };
	int r = object_level_check(args_get(args, "level"), err);

	if (r >= 0)
		r = when_filter(args, runs[0], &filter, err);

	if (r < 0)
		return r;
	r = findings_collect(&f, runs[0], &filter, SLOW_SHARE, err);
	f.more = object_level_more(args_get(args, "level"));
	/* what befell the nodes is told by the lines themselves */
	if (r >= 0 && !f.more)
		r = anomalies_collect(&odd, runs[0], &f.types, &filter, err);
	if (r >= 0) {
		report->losses.count[LOSS_TYPES_SKIPPED] += f.nr_skipped;
		report->losses.count[LOSS_WORK_SKIPPED] += odd.nr_left_out;
		if (f.types.order.nr)
			report_types(&f, report);
		anomaly_tell(&odd, ANOMALIES_SHOWN, name, report);
		r = tell_reasons(&f, runs[0], name, report, err);
	}
	if (r >= 0)
		r = !f.types.nr_requests;
	anomalies_done(&odd);
	findings_done(&f);
	return r;
}

static const struct option options[] = {
	{ "type", "TYPE", "only this type of request" },
	{ "from", "TIME", "only requests that start at this time or later" },
	{ "until", "TIME", "only requests that start before this time" },
	OBJECT_LEVEL_OPTION,
	{ 0 },
};

static const struct example examples[] = {
	{ "answer run.culprit",
	  "what is slow in this run, and which hop on which node explains it" },
	{ 0 },
};

const struct question ask_answer = {
	.name = "answer",
	.summary = "say in words what is slow and why",
	.nr_runs = 1,
	.options = options,
	.examples = examples,
	.run = run,
};
