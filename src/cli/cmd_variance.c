/* culprit variance: of a run or inputs as any question, or of a process that runs. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time.h"
#include "cli/command.h"
#include "cli/option.h"
#include "cli/say.h"
#include "cli/variance_live.h"

#define ROUND_NS (2 * NS_S)
#define ROUNDS_MAX 1000
#define TOP_MAX 100

static int count_option(const struct call *call, const char *name, uint64_t max, unsigned *value,
			struct error *err)
{
	uint64_t n = *value;
	int got = option_number(call, name, max, &n, err);

	*value = (unsigned)n;
	return got;
}

static int read_options(const struct call *call, struct live_options *o, struct error *err)
{
	unsigned pid = 0;
	int got = count_option(call, "pid", INT32_MAX, &pid, err);

	o->pid = (int)pid;
	if (got >= 0 && pid && call->nr_inputs)
		got = error_set(err, EINVAL, "either a process (-p) or what follows, not both");
	if (got >= 0)
		got = count_option(call, "rounds", ROUNDS_MAX, &o->nr_rounds, err);
	if (got >= 0)
		got = count_option(call, "top", TOP_MAX, &o->nr_top, err);
	if (got >= 0)
		got = option_time(call, "for", &o->for_ns, err);
	if (got >= 0)
		got = option_time(call, "round", &o->round_ns, err);
	if (got >= 0)
		got = option_share(call, "overhead", &o->budget, err);
	if (got >= 0)
		got = option_share(call, "min-share", &o->min_share, err);
	return got;
}

int cmd_variance(const struct call *call)
{
	struct live_options o = { .call = call,
				  .round_ns = ROUND_NS,
				  .nr_top = 5,
				  .min_share = 0.01,
				  .budget = 0.05,
				  .path = call_get(call, "output") };
	struct error err = { 0 };
	int got;

	if (!call_has(call, "pid") && !call->is_behind_dashes && call->nr_inputs)
		return cmd_ask(call);
	o.command = call->nr_inputs ? call->inputs : NULL;
	o.has_no_states = call_has(call, "no-states");
	if (!o.path && !call_has(call, "no-run"))
		o.path = "run.culprit";
	got = read_options(call, &o, &err);
	if (got >= 0 && !o.pid && !o.command)
		got = error_set(&err, EINVAL,
				"'variance' needs a run, an input, a process (-p PID) or a command "
				"(-- COMMAND)");
	if (got >= 0)
		got = variance_live(&o, &err);
	if (got >= 0)
		return got ? EXIT_NOTHING : EXIT_ANSWERED;
	say_error("%s", err.msg);
	return EXIT_CANNOT;
}
