#include "web/download.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "export/export.h"
#include "store/store.h"
#include "web/api.h"
#include "web/asked.h"
#include "web/reply.h"
#include "web/runs.h"

/* The whole of it goes to a file that has no name, so that memory does not grow with the run. */
static int write_file(struct store *s, const struct exporter *x, struct reply *r, struct error *err)
{
	FILE *f = tmpfile();
	int got;

	if (!f)
		return error_set(err, errno, "cannot make a temporary file: %s", strerror(errno));
	got = x->write(s, f, err);
	if (got >= 0 && (fflush(f) || ferror(f)))
		got = error_set(err, errno, "cannot write a temporary file: %s", strerror(errno));
	if (got >= 0) {
		r->file_bytes = (uint64_t)ftello(f);
		r->file = dup(fileno(f));
		if (r->file < 0 || lseek(r->file, 0, SEEK_SET)) {
			got = error_set(err, errno, "cannot read it back: %s", strerror(errno));
			r->file = r->file > 0 ? r->file : 0;
		}
	}
	fclose(f);
	return got;
}

void download_answer(const struct api *api, const struct asked *a, struct reply *r)
{
	const char *format = asked_param(a, "format"), *text = asked_param(a, "run");
	const struct exporter *x = format ? exporter_find(format) : NULL;
	struct store *s = NULL;
	struct error err = { 0 };
	uint64_t generation = 0;
	unsigned run = 1;
	int got = text ? api_run(text, &run, &err) : 0;

	if (!x) {
		reply_error(r, 400, "give format: one of those that culprit help export lists");
		return;
	}
	if (got >= 0)
		got = runs_take(api->runs, run, &s, &generation, &err);
	if (got >= 0) {
		store_watch(s, a->is_over, a->over_to);
		got = write_file(s, x, r, &err);
	}
	if (s)
		runs_give(api->runs, run, generation, s);
	if (got < 0) {
		reply_error(r, api_status(got), "%s", err.msg);
		return;
	}
	r->status = 200;
	r->type = "application/octet-stream";
	snprintf(r->disposition, sizeof(r->disposition),
		 "attachment; filename=\"culprit-run-%u%s\"", run, x->suffix);
}
