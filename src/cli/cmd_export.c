/* culprit export RUN|INPUT... --format NAME: hands a run to the tools that people already use. */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "cli/beside.h"
#include "cli/command.h"
#include "cli/observe.h"
#include "cli/say.h"
#include "cli/storing.h"
#include "export/export.h"
#include "store/store.h"

static const struct exporter *find_exporter(const char *name, struct error *err)
{
	struct buf known = { 0 };

	for (size_t i = 0; exporters[i]; i++) {
		if (name && !strcmp(exporters[i]->name, name)) {
			buf_done(&known);
			return exporters[i];
		}
		buf_fmt(&known, "%s%s", i ? ", " : "", exporters[i]->name);
	}
	error_set(err, EINVAL, "%s%s%s; there is: %.*s",
		  name ? "no format '" : "which format? --format NAME", name ? name : "",
		  name ? "'" : "", (int)known.n, known.p);
	buf_done(&known);
	return NULL;
}

static int export_to(struct store *s, const struct exporter *x, const char *path, struct error *err)
{
	struct beside out;
	int got = beside_open(&out, path, err);

	if (got < 0)
		return got;
	return beside_close(&out, x->write(s, out.file, err), err);
}

static int export_file(const struct call *call, struct store **s, struct error *err)
{
	const char *path = call_get(call, "output");
	const struct exporter *x = find_exporter(call_get(call, "format"), err);
	int got = x ? observe_or_open(call, call->inputs, call->nr_inputs, s, err) : -EINVAL;

	return got < 0 ? got : export_to(*s, x, path ? path : "-", err);
}

static int export_stored(const struct call *call, struct store **s, struct error *err)
{
	struct buf where = { 0 };
	int got;

	if (call_get(call, "format") || call_get(call, "output"))
		return error_set(err, EINVAL,
				 "--store takes the run as it is: leave out --format and -o");
	got = storing_begin(call, &where, err);
	if (got >= 0)
		got = observe_or_open(call, call->inputs, call->nr_inputs, s, err);
	if (got >= 0)
		got = storing_end(*s, &where, err);
	buf_done(&where);
	return got;
}

int cmd_export(const struct call *call)
{
	struct error err = { 0 };
	struct store *s = NULL;
	int got = call_get(call, "store") || call_get(call, "run") ? export_stored(call, &s, &err)
								   : export_file(call, &s, &err);

	if (s)
		store_close(s);
	if (got >= 0)
		return EXIT_ANSWERED;
	say_error("%s", err.msg);
	return EXIT_CANNOT;
}
