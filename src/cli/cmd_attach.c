/* culprit attach PID: brings the agent library into a running JVM, and says what is there. */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "capture/jvm/attach.h"
#include "capture/jvm/library.h"
#include "capture/jvm/name.h"
#include "capture/jvm/status.h"
#include "cli/command.h"
#include "cli/say.h"
#include "cli/show.h"
#include "report/report.h"

static const struct column columns[] = {
	{ "pid", NULL, CELL_COUNT, COLUMN_JSON_ONLY },
	{ NULL, "PID", CELL_TEXT, COLUMN_TEXT_ONLY },
	{ "name", "NAME", CELL_TEXT, 0 },
	{ "java", "JAVA", CELL_TEXT, 0 },
	{ "vm", "VM", CELL_TEXT, COLUMN_WIDE },
	{ "loaded", "LOADED", CELL_BOOL, 0 },
	{ "library", "LIBRARY", CELL_TEXT, COLUMN_WIDE },
};
enum { COL_PID, COL_PID_TEXT, COL_NAME, COL_JAVA, COL_VM, COL_LOADED, COL_LIBRARY };
#define NR_COLUMNS (sizeof(columns) / sizeof(*columns))

static const struct column told_columns[] = {
	{ "what", "THE LIBRARY SAYS", CELL_TEXT, 0 },
	{ "value", "", CELL_TEXT, COLUMN_WIDE },
};

struct found {
	int pid;
	char name[256], library[4096];
	bool has_library;
	struct buf properties, told;
};

static const struct column hop_columns[] = {
	{ "method", "METHOD", CELL_TEXT, COLUMN_WIDE },
	{ "moment", "AT", CELL_TEXT },
	{ "action", "DOES", CELL_TEXT },
	{ "gave", "GAVE", CELL_COUNT },
	{ "came", "CAME", CELL_COUNT },
	{ "nothing", "NOTHING", CELL_COUNT },
	{ "lost", "LOST", CELL_COUNT },
	{ "passed", "PASSED BY", CELL_COUNT },
};
#define HOP_COLUMNS (sizeof(hop_columns) / sizeof(*hop_columns))
#define HOP_TEXTS 3

static int take_pid(const struct call *call, int *pid, struct error *err)
{
	struct str s = str_of(call->inputs[0]);
	uint64_t nr;

	if (!str_take_uint(&s, &nr) || s.n || !nr || nr > INT32_MAX)
		return error_set(err, EINVAL, "'%s' is no process id", call->inputs[0]);
	*pid = (int)nr;
	return 0;
}

static int find_out(const struct call *call, struct found *f, struct error *err)
{
	int got = take_pid(call, &f->pid, err);

	if (got >= 0)
		got = jvm_properties(f->pid, &f->properties, err);
	if (got < 0)
		return got;
	(void)!jvm_name(f->pid, f->name, sizeof(f->name));
	f->has_library = jvm_library_in(f->pid, f->library, sizeof(f->library));
	if (f->has_library || !call_has(call, "status"))
		got = jvm_status(f->pid, &f->told, err);
	if (got >= 0)
		f->has_library = jvm_library_in(f->pid, f->library, sizeof(f->library));
	return got;
}

static void put_property(const struct found *f, struct section *s, struct row *row, size_t column,
			 struct str name)
{
	struct str value;

	if (jvm_property(buf_str(&f->properties), name, &value))
		row_text(s, row, column, value);
}

static void fill(struct report *r, const struct found *f)
{
	struct section *s = report_table(r, "jvm", "", columns, NR_COLUMNS);
	struct row *row = section_row(s);
	struct str told = buf_str(&f->told), name, value;

	s->tagged = true;
	row_int(s, row, COL_PID, f->pid);
	row_fmt(s, row, COL_PID_TEXT, "%d", f->pid);
	row_text(s, row, COL_NAME, str_of(f->name));
	put_property(f, s, row, COL_JAVA, STR("java.version"));
	put_property(f, s, row, COL_VM, STR("java.vm.name"));
	row_int(s, row, COL_LOADED, f->has_library);
	if (f->has_library)
		row_text(s, row, COL_LIBRARY, str_of(f->library));
	if (!told.n)
		return;
	s = report_table(r, "told", "", told_columns, 2);
	s->tagged = true;
	while (jvm_status_take(&told, &name, &value)) {
		if (str_eq(name, STR("hop")))
			continue;
		row = section_row(s);
		row_text(s, row, 0, name);
		row_text(s, row, 1, value);
	}
}

struct hop_line {
	struct str texts[HOP_TEXTS];
	uint64_t counts[HOP_COLUMNS - HOP_TEXTS];
	uint64_t sum;
};

static struct hop_line hop_take(struct str value)
{
	struct hop_line h = { 0 };

	for (size_t i = 0; i < HOP_COLUMNS; i++) {
		struct str field = str_head(value, str_find_char(value, '\t'));
		uint64_t nr = 0;

		value = str_skip(value, field.n + 1);
		if (i < HOP_TEXTS) {
			h.texts[i] = field;
		} else if (str_take_uint(&field, &nr)) {
			h.counts[i - HOP_TEXTS] = nr;
			h.sum += nr;
		}
	}
	return h;
}

/* What hands on what requests carry, and how often it did; people see those that did anything. */
static void fill_hops(struct report *r, const struct found *f, bool has_all)
{
	struct section *s = report_table(r, "hop", "", hop_columns, HOP_COLUMNS);
	struct str told = buf_str(&f->told), name, value;

	s->tagged = true;
	while (jvm_status_take(&told, &name, &value)) {
		struct hop_line h = hop_take(value);
		struct row *row;

		if (!str_eq(name, STR("hop")) || (!h.sum && !has_all))
			continue;
		row = section_row(s);
		if (!has_all)
			h.texts[0].n = str_find_char(h.texts[0], '(');
		for (size_t i = 0; i < HOP_TEXTS; i++)
			row_text(s, row, i, h.texts[i]);
		for (size_t i = HOP_TEXTS; i < HOP_COLUMNS; i++)
			row_int(s, row, i, (int64_t)h.counts[i - HOP_TEXTS]);
	}
}

int cmd_attach(const struct call *call)
{
	struct found f = { 0 };
	struct error err = { 0 };
	struct report r;
	int got = find_out(call, &f, &err);

	report_init(&r);
	if (got >= 0) {
		fill(&r, &f);
		if (call_has(call, "hops"))
			fill_hops(&r, &f, call_has(call, "json"));
		got = show_report(&r, call, &err);
	}
	if (got < 0)
		say_error("%s", err.msg);
	report_done(&r);
	buf_done(&f.properties);
	buf_done(&f.told);
	return got < 0 ? EXIT_CANNOT : f.has_library ? EXIT_ANSWERED : EXIT_NOTHING;
}
