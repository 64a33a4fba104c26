/* culprit analyze INPUT...: the main job. Reads, infers, writes the run, prints the report. */
#include "base/error.h"
#include "cli/command.h"
#include "cli/observe.h"
#include "cli/say.h"
#include "cli/verdict.h"
#include "store/store.h"

int cmd_analyze(const struct call *call)
{
	const char *path = call_get(call, "output");
	struct store *s = NULL;
	struct error err = { 0 };
	const char *name;
	int got;

	if (call_has(call, "no-run"))
		path = NULL;
	else if (!path)
		path = "run.culprit";
	name = path ? path : call->nr_inputs == 1 ? call->inputs[0] : NULL;
	got = observe(call, call->inputs, call->nr_inputs, path, &s, &err);
	if (got >= 0)
		got = verdict(call, s, name, &err);
	if (s)
		store_close(s);
	if (got >= 0)
		return got ? EXIT_NOTHING : EXIT_ANSWERED;
	say_error("%s", err.msg);
	return EXIT_CANNOT;
}
