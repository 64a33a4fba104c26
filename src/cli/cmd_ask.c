/* culprit QUESTION RUN|INPUT...: puts one question of the table to one run, or to two. */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/observe.h"
#include "cli/say.h"
#include "cli/show.h"
#include "report/report.h"
#include "store/store.h"

static int open_runs(const struct call *call, struct store **runs, struct error *err)
{
	unsigned nr = call->command->question->nr_runs;
	int got = 0;

	if (nr == 1)
		return observe_or_open(call, call->inputs, call->nr_inputs, &runs[0], err);
	for (unsigned i = 0; i < nr && got >= 0; i++)
		got = observe_or_open(call, call->inputs + i, 1, &runs[i], err);
	return got;
}

/* What the user gave, and how the user names the run: commands in the answer can be typed as they
 * stand. */
static struct args args_of(const struct call *call, struct arena *arena)
{
	size_t nr = 0;
	struct option *options;
	const char **values;

	while (call->options[nr].name)
		nr++;
	options = arena_array(arena, struct option, nr + 2);
	values = arena_array(arena, const char *, nr + 2);
	memcpy(options, call->options, nr * sizeof(*options));
	memcpy(values, call->values, nr * sizeof(*values));
	options[nr] = (struct option){ "run-name", "FILE", "" };
	values[nr] = call->nr_inputs == 1 ? call->inputs[0] : "RUN";
	return (struct args){ options, values };
}

static int ask(const struct call *call, struct store *const *runs, struct error *err)
{
	const struct question *q = call->command->question;
	struct arena arena = { 0 };
	struct args args = args_of(call, &arena);
	struct report report;
	int got, shown;

	report_init(&report);
	show_begin(&report, call);
	got = q->run(runs, &args, &report, err);
	for (unsigned i = 0; got >= 0 && i < q->nr_runs; i++)
		losses_add(&report.losses, store_losses(runs[i]));
	shown = got >= 0 ? show_report(&report, call, err) : 0;
	report_done(&report);
	arena_done(&arena);
	return shown < 0 ? shown : got;
}

int cmd_ask(const struct call *call)
{
	struct store *runs[2] = { NULL, NULL };
	struct error err = { 0 };
	int got = open_runs(call, runs, &err);

	if (got >= 0)
		got = ask(call, runs, &err);
	for (int i = 0; i < 2; i++)
		if (runs[i])
			store_close(runs[i]);
	if (got >= 0)
		return got ? EXIT_NOTHING : EXIT_ANSWERED;
	say_error("%s", err.msg);
	return EXIT_CANNOT;
}
