/* culprit QUESTION RUN|INPUT...: puts one question of the table to one run, or to two. */
#include <errno.h>
#include <string.h>

#include "ask/object_level.h"
#include "ask/selection.h"
#include "base/error.h"
#include "cli/beside.h"
#include "cli/command.h"
#include "cli/observe.h"
#include "cli/say.h"
#include "cli/show.h"
#include "cli/storing.h"
#include "export/export.h"
#include "report/report.h"
#include "store/store.h"

/* Questions about requests are asked of objects, when these are wanted, by making a run of them. */
static int to_level(const struct call *call, struct store **run, struct error *err)
{
	struct store *made = NULL;
	int got;

	if (!object_level_is(call_get(call, "level")))
		return 0;
	got = object_level_run(*run, &made, err);
	if (got < 0)
		return got;
	store_close(*run);
	*run = made;
	return 0;
}

static int open_runs(const struct call *call, struct store **runs, struct error *err)
{
	unsigned nr = call->command->question->nr_runs;
	int got = 0;

	for (unsigned i = 0; i < nr && got >= 0; i++) {
		got = observe_or_open(call, call->inputs + i, nr == 1 ? call->nr_inputs : 1,
				      &runs[i], err);
		if (got >= 0)
			got = to_level(call, &runs[i], err);
	}
	return got;
}

/* A run tells of objects what a question about requests does not find out for itself. */
static void add_losses(struct report *report, const struct call *call, const struct losses *losses)
{
	bool is_all = call->command->question->is_of_objects || call_has(call, "level");

	for (int i = 0; i < LOSS_NR; i++)
		if (is_all || !loss_is_of_objects((enum loss)i))
			report->losses.count[i] += losses->count[i];
}

static int ask(const struct call *call, struct store *const *runs, struct error *err)
{
	const struct question *q = call->command->question;
	/* the question's options stand first in the command's, so the values fit both */
	struct args args = { call->options, call->values, NULL };
	struct buf name = { 0 };
	struct report report;
	int got, shown;

	if (call->nr_inputs == 1)
		args.run = storing_shown(call->inputs[0], &name);
	report_init(&report);
	show_begin(&report, call);
	got = selection_ask(q, runs, &args, &report, err);
	for (unsigned i = 0; got >= 0 && i < q->nr_runs; i++)
		add_losses(&report, call, store_losses(runs[i]));
	shown = got >= 0 ? show_report(&report, call, err) : 0;
	report_done(&report);
	buf_done(&name);
	return shown < 0 ? shown : got;
}

/* A drawing is for another tool: it is written as it is, with nothing around it. */
static int draw(const char *graph, struct store *run, struct error *err)
{
	const struct exporter *x = !strcmp(graph, "s3")      ? &export_objects
				   : !strcmp(graph, "types") ? &export_object_types
							     : NULL;
	struct beside out;
	int got;

	if (!x)
		return error_set(err, EINVAL, "--dot takes s3 or types, not '%s'", graph);
	got = beside_open(&out, "-", err);
	return got < 0 ? got : beside_close(&out, x->write(run, out.file, err), err);
}

int cmd_ask(const struct call *call)
{
	struct store *runs[2] = { NULL, NULL };
	struct error err = { 0 };
	int got = open_runs(call, runs, &err);

	if (got >= 0)
		got = call_has(call, "dot") ? draw(call_get(call, "dot"), runs[0], &err)
					    : ask(call, runs, &err);
	for (int i = 0; i < 2; i++)
		if (runs[i])
			store_close(runs[i]);
	if (got >= 0)
		return got ? EXIT_NOTHING : EXIT_ANSWERED;
	say_error("%s", err.msg);
	return EXIT_CANNOT;
}
