/* culprit tracepoints [SET|FILE...]: what queries can be asked of, and whether a program has it. */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/time.h"
#include "cli/command.h"
#include "cli/option.h"
#include "cli/say.h"
#include "cli/show.h"
#include "cli/stopping.h"
#include "cli/tracepoint_files.h"
#include "cli/tracepoints_look.h"
#include "cli/tracepoints_test.h"
#include "report/report.h"

static const struct column columns[] = {
	{ "tracepoint", "TRACEPOINT", CELL_TEXT, 0 },
	{ "where", "WHERE", CELL_TEXT, 0 },
	{ "place", "PLACE", CELL_TEXT, COLUMN_WIDE },
	{ "moment", "WHEN", CELL_TEXT, 0 },
	{ "found", "FOUND", CELL_TEXT, COLUMN_OPTIONAL },
	{ "exports", "EXPORTS", CELL_TEXT, COLUMN_WIDE },
	{ "set", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	{ "begins_request", NULL, CELL_BOOL, COLUMN_JSON_ONLY },
};
enum { COL_NAME, COL_WHERE, COL_PLACE, COL_MOMENT, COL_FOUND, COL_EXPORTS, COL_SET, COL_BEGINS };
#define NR_COLUMNS (sizeof(columns) / sizeof(*columns))

static void say_exports(struct section *s, struct row *row, const struct tracepoint *t)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < t->nr_exports; i++)
		buf_fmt(&b, "%s" STR_FMT, i ? ", " : "", STR_ARG(t->exports[i].name));
	if (b.n)
		row_text(s, row, COL_EXPORTS, buf_str(&b));
	buf_done(&b);
}

static void say_place(struct looked *l, struct section *s, const struct tracepoints *file,
		      const struct tracepoint *t, const struct tracepoint_place *p)
{
	struct row *row = section_row(s);
	bool is_first = p == t->places;
	struct buf found = { 0 };

	row_text(s, row, COL_NAME, t->name);
	row_text(s, row, COL_WHERE, str_of(tracepoint_where_name(p->where)));
	if (p->where == WHERE_FUNCTION || p->where == WHERE_USDT)
		row_fmt(s, row, COL_PLACE, STR_FMT "%c" STR_FMT, STR_ARG(p->binary),
			p->where == WHERE_USDT ? ':' : '!', STR_ARG(p->name));
	else
		row_text(s, row, COL_PLACE, p->name);
	if (p->moment == MOMENT_LINE)
		row_fmt(s, row, COL_MOMENT, "line %u", p->line);
	else
		row_text(s, row, COL_MOMENT, str_of(tracepoint_moment_name(p->moment)));
	row_text(s, row, COL_SET, file->file);
	row_int(s, row, COL_BEGINS, t->begins_request);
	if (is_first)
		say_exports(s, row, t);
	if (l->is_asked && looked_for(l, p, &found))
		row_text(s, row, COL_FOUND, buf_str(&found));
	buf_done(&found);
}

static void say_all(struct looked *l, struct report *r, const struct tracepoint_files *f)
{
	struct section *s = report_table(r, "tracepoints", "Tracepoints", columns, NR_COLUMNS);

	vec_each (&f->v, file)
		for (size_t i = 0; i < file->nr; i++)
			for (size_t k = 0; k < file->v[i].nr_places; k++)
				say_place(l, s, file, &file->v[i], &file->v[i].places[k]);
}

static int load(const struct call *call, struct tracepoint_files *f, struct error *err)
{
	int got = call->nr_inputs ? 0 : tracepoint_files_add(f, NULL, err);

	for (size_t i = 0; i < call->nr_inputs && got >= 0; i++)
		got = tracepoint_files_add(f, call->inputs[i], err);
	return got;
}

static int tell(const struct call *call, struct tracepoint_files *f, struct looked *l,
		struct error *err)
{
	struct report r;
	size_t nr = 0;
	int got;

	report_init(&r);
	vec_each (&f->v, file)
		nr += file->nr;
	if (!call_has(call, "check") || l->is_asked)
		say_all(l, &r, f);
	got = show_report(&r, call, err);
	report_done(&r);
	if (got < 0)
		return got;
	return !nr || l->nr_missing ? EXIT_NOTHING : EXIT_ANSWERED;
}

/* What the process does while it is watched. */
static int test(const struct call *call, const struct tracepoint_files *f, struct error *err)
{
	int64_t ns = 5 * NS_S;
	struct report r;
	uint64_t pid = 0;
	int got = option_number(call, "pid", INT32_MAX, &pid, err), shown = 0;

	if (got >= 0 && !pid)
		got = error_set(err, EINVAL, "--test needs a process: --pid PID");
	if (got >= 0)
		got = option_time(call, "for", &ns, err);
	if (got < 0)
		return got;
	report_init(&r);
	stopping_catch();
	got = tracepoints_test(f, (int)pid, ns, &r, err);
	if (got >= 0)
		shown = show_report(&r, call, err);
	report_done(&r);
	return got < 0 ? got : shown < 0 ? shown : got ? EXIT_ANSWERED : EXIT_NOTHING;
}

int cmd_tracepoints(const struct call *call)
{
	struct tracepoint_files files = { 0 };
	struct looked looked = { 0 };
	struct error err = { 0 };
	int got = load(call, &files, &err);

	if (got >= 0 && call_has(call, "test")) {
		got = test(call, &files, &err);
	} else if (got >= 0) {
		got = looked_into(&looked, call, &err);
		if (got >= 0)
			got = tell(call, &files, &looked, &err);
	}
	if (got < 0)
		say_error("%s", err.msg);
	looked_done(&looked);
	tracepoint_files_done(&files);
	return got < 0 ? EXIT_CANNOT : got;
}
