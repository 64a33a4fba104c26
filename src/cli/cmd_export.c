/* culprit export RUN|INPUT... --format NAME: hands a run to the tools that people already use. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/observe.h"
#include "cli/say.h"
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

static int export_to(struct store *s, const struct exporter *x, FILE *f, const char *name,
		     struct error *err)
{
	int got = x->write(s, f, err);

	if (got >= 0 && (fflush(f) || ferror(f)))
		return error_set(err, errno, "cannot write %s: %s", name, strerror(errno));
	return got;
}

/* Beside first, then renamed, so that a half-written export is never taken for a whole one. */
static int export_to_file(struct store *s, const struct exporter *x, const char *path,
			  struct error *err)
{
	cleanup(free) char *beside = NULL;
	FILE *f;
	int got;

	if (asprintf(&beside, "%s.partial-%d", path, (int)getpid()) < 0)
		return error_set(err, ENOMEM, "out of memory");
	f = fopen(beside, "we");
	if (!f)
		return error_set(err, errno, "cannot write '%s': %s", path, strerror(errno));
	got = export_to(s, x, f, path, err);
	if (fclose(f) && got >= 0)
		got = error_set(err, errno, "cannot write '%s': %s", path, strerror(errno));
	if (got >= 0 && rename(beside, path))
		got = error_set(err, errno, "cannot write '%s': %s", path, strerror(errno));
	if (got < 0)
		unlink(beside);
	return got;
}

int cmd_export(const struct call *call)
{
	const char *path = call_get(call, "output");
	struct error err = { 0 };
	struct store *s = NULL;
	const struct exporter *x = find_exporter(call_get(call, "format"), &err);
	int got = x ? observe_or_open(call, call->inputs, call->nr_inputs, &s, &err) : -EINVAL;

	if (got >= 0)
		got = path && strcmp(path, "-")
			      ? export_to_file(s, x, path, &err)
			      : export_to(s, x, stdout, "to standard output", &err);
	if (s)
		store_close(s);
	if (got >= 0)
		return EXIT_ANSWERED;
	say_error("%s", err.msg);
	return EXIT_CANNOT;
}
