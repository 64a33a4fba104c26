/* culprit query RUN|INPUT...|--live 'From …': the last word is the query; saved ones stand in front
 * of it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/query_live.h"
#include "cli/say.h"
#include "cli/tracepoint_files.h"

#define SAVED_MAX (1 << 20)

static void set(struct call *call, const char *option, const char *value)
{
	for (size_t i = 0; call->options[i].name; i++)
		if (!strcmp(call->options[i].name, option))
			call->values[i] = value;
}

static int read_saved(const char *path, struct buf *text, struct error *err)
{
	cleanup(fclose) FILE *f = fopen(path, "re");

	if (!f)
		return error_set(err, errno, "cannot open '%s': %s", path, strerror(errno));
	text->n += fread(buf_room(text, SAVED_MAX + 1), 1, SAVED_MAX + 1, f);
	if (ferror(f))
		return error_set(err, EIO, "cannot read '%s'", path);
	if (text->n > SAVED_MAX)
		return error_set(err, EFBIG, "'%s' is too long for saved queries", path);
	buf_add(text, STR("\n;\n"));
	return 0;
}

/* Tracepoints that are defined as something of a run are queries that stand in front. */
static int add_definitions(const char *names, struct buf *text, struct error *err)
{
	struct tracepoint_files files = { 0 };
	int got = tracepoint_files_list(&files, names, err);

	if (got >= 0 && !tracepoints_as_queries(files.v.v, files.v.nr, text))
		got = error_set(
			err, EINVAL,
			"none of the tracepoints of '%s' is a span, log point or message: a run "
			"has no others",
			names);
	tracepoint_files_done(&files);
	return got;
}

int cmd_query(const struct call *call)
{
	const char *saved = call_get(call, "saved");
	struct call with = *call;
	struct buf text = { 0 };
	struct error err = { 0 };
	int got;

	if (!call_has(call, "query") && with.nr_inputs)
		set(&with, "query", with.inputs[--with.nr_inputs]);
	if (!with.nr_inputs == !call_has(call, "live") || !call_has(&with, "query")) {
		say_error("'query' needs a run, inputs or --live, and a query; usage: culprit "
			  "query %s",
			  call->command->usage);
		return EXIT_CANNOT;
	}
	got = saved ? read_saved(saved, &text, &err) : 0;
	if (got >= 0 && !call_has(call, "live") && call_has(call, "tracepoints"))
		got = add_definitions(call_get(call, "tracepoints"), &text, &err);
	if (got < 0) {
		say_error("%s", err.msg);
		buf_done(&text);
		return EXIT_CANNOT;
	}
	if (text.n) {
		buf_add(&text, str_of(call_get(&with, "query")));
		buf_char(&text, 0);
		set(&with, "query", text.p);
	}
	if (call_has(call, "live"))
		got = query_live(&with, call_get(&with, "query"));
	else
		got = cmd_ask(&with);
	buf_done(&text);
	return got;
}
