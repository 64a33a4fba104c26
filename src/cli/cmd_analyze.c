/* culprit analyze INPUT...: the main job. Reads, infers, writes the run, prints the report. */
#include <errno.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/engine.h"
#include "cli/follow.h"
#include "cli/observe.h"
#include "cli/say.h"
#include "cli/storing.h"
#include "cli/verdict.h"
#include "store/store.h"

/* A run that goes to PostgreSQL is kept as a file only if one is named, or to be followed. */
static const char *path_of(const struct call *call, bool is_stored)
{
	const char *path = call_get(call, "output");

	is_stored = is_stored && !call_has(call, "follow");
	if (call_has(call, "no-run"))
		return NULL;
	return path || is_stored ? path : "run.culprit";
}

static const char *name_of(const struct call *call, const struct buf *where, const char *path,
			   struct buf *shown)
{
	if (where->n)
		return storing_shown(where->p, shown);
	return path ? path : call->nr_inputs == 1 ? call->inputs[0] : NULL;
}

/* What was found is told even when it cannot be stored: hours may have gone into it. */
static int keep(struct store *s, struct buf *where, const char *path)
{
	struct error err = { 0 };
	int got = where->n ? storing_end(s, where, &err) : 0;

	if (got >= 0)
		return got;
	if (path)
		say_error("%s; the run is in '%s', which 'culprit export' can store", err.msg,
			  path);
	else
		say_error("%s; the run is not kept, since no file was named with -o", err.msg);
	buf_clear(where);
	return got;
}

static int analyze(const struct call *call, const char *path, struct store **s, struct error *err)
{
	bool is_followed = call_has(call, "follow"), is_distributed = call_has(call, "on");

	if (is_followed && is_distributed)
		return error_set(err, EINVAL,
				 "--on reads logs that are there, --follow those to come: leave "
				 "out one of them");
	if (is_distributed)
		return engine_observe(call, path, s, err);
	return is_followed ? follow_until_told(call, path, s, err)
			   : observe(call, call->inputs, call->nr_inputs, path, s, err);
}

int cmd_analyze(const struct call *call)
{
	struct buf where = { 0 }, shown = { 0 };
	struct store *s = NULL;
	struct error err = { 0 };
	int got = storing_begin(call, &where, &err), kept = 0;
	const char *path = path_of(call, got > 0);

	if (got >= 0)
		got = analyze(call, path, &s, &err);
	if (got >= 0)
		kept = keep(s, &where, path);
	if (got >= 0)
		got = verdict(call, s, name_of(call, &where, path, &shown), &err);
	if (s)
		store_close(s);
	buf_done(&where);
	buf_done(&shown);
	if (got < 0)
		say_error("%s", err.msg);
	if (got < 0 || kept < 0)
		return EXIT_CANNOT;
	return got ? EXIT_NOTHING : EXIT_ANSWERED;
}
