/* culprit analyze INPUT...: the main job. Reads, infers, writes the run, prints the report. */
#include <string.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/observe.h"
#include "cli/say.h"
#include "cli/show.h"
#include "cli/steps.h"
#include "report/report.h"
#include "store/store.h"

static const struct question *find_question(const char *name)
{
	for (size_t i = 0; questions[i]; i++)
		if (!strcmp(questions[i]->name, name))
			return questions[i];
	return NULL;
}

static int tell(struct store *s, const char *path, const struct call *call, struct error *err)
{
	const struct question *answer = find_question("answer");
	const struct option none[] = { { 0 } };
	struct args args = { none, NULL,
			     path                   ? path
			     : call->nr_inputs == 1 ? call->inputs[0]
						    : NULL };
	struct report report;
	int got, shown;

	report_init(&report);
	show_begin(&report, call);
	got = steps_tell(s, &report, err);
	if (got >= 0)
		got = answer->run(&s, &args, &report, err);
	losses_add(&report.losses, store_losses(s));
	shown = got >= 0 ? show_report(&report, call, err) : 0;
	report_done(&report);
	return shown < 0 ? shown : got;
}

int cmd_analyze(const struct call *call)
{
	const char *path = call_get(call, "output");
	struct store *s = NULL;
	struct error err = { 0 };
	int got;

	if (call_has(call, "no-run"))
		path = NULL;
	else if (!path)
		path = "run.culprit";
	got = observe(call, call->inputs, call->nr_inputs, path, &s, &err);
	if (got >= 0)
		got = tell(s, path, call, &err);
	if (s)
		store_close(s);
	if (got >= 0)
		return got ? EXIT_NOTHING : EXIT_ANSWERED;
	say_error("%s", err.msg);
	return EXIT_CANNOT;
}
