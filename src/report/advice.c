#include "report/advice.h"

#include "base/buf.h"
#include "model/live.h"
#include "report/report.h"

enum { ADVICE, AT, OPERATIONS, RULE, TUPLES, BYTES, PER_SECOND, WARNING, NR_COLUMNS };

static const struct column columns[NR_COLUMNS] = {
	[ADVICE] = { "advice", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[AT] = { "at", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	[OPERATIONS] = { "operations", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	[RULE] = { "rule", NULL, CELL_TEXT, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[TUPLES] = { "tuples", NULL, CELL_NUMBER, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[BYTES] = { "bytes", NULL, CELL_NUMBER, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[PER_SECOND] = { "per_second", NULL, CELL_NUMBER, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[WARNING] = { "warning", NULL, CELL_TEXT, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
};
static const struct column bare[] = { { NULL, NULL, CELL_TEXT, 0 } };

static void add_list(struct section *s, struct row *row, size_t column, const struct str *v,
		     size_t nr)
{
	struct section *in = row_rows(s, row, column, bare, 1);

	for (size_t i = 0; i < nr; i++)
		row_text(in, section_row(in), 0, v[i]);
}

static void add_row(struct section *s, const struct live_advice *a)
{
	struct row *row = section_row(s);

	row_text(s, row, ADVICE, a->name);
	add_list(s, row, AT, a->at, a->nr_at);
	add_list(s, row, OPERATIONS, a->operations, a->nr_operations);
	if (a->rule.n)
		row_text(s, row, RULE, a->rule);
	if (a->tuples >= 0)
		row_double(s, row, TUPLES, a->tuples);
	if (a->bytes >= 0)
		row_double(s, row, BYTES, a->bytes);
	if (a->per_second >= 0)
		row_double(s, row, PER_SECOND, a->per_second);
	if (a->warning.n)
		row_text(s, row, WARNING, a->warning);
}

static void say_costs(struct section *s, const struct live_advice *a)
{
	struct buf text = { 0 };

	if (a->tuples >= 0)
		buf_fmt(&text, " packs up to %.6g %s a request (%.6g bytes);", a->tuples,
			a->tuples == 1 ? "tuple" : "tuples", a->bytes);
	if (a->per_second >= 0)
		buf_fmt(&text,
			a->per_second < 100 ? " runs %.3g times a second;"
					    : " runs %.0f times a second;",
			a->per_second);
	if (a->rule.n)
		buf_fmt(&text, " equal tuples are packed as one: " STR_FMT ";", STR_ARG(a->rule));
	if (text.n)
		section_say(s, NULL, STR_FMT "%.*s.", STR_ARG(a->name), (int)text.n - 1, text.p)
			->confidence = -1;
	if (a->warning.n)
		section_say(s, NULL, STR_FMT ": " STR_FMT, STR_ARG(a->name), STR_ARG(a->warning))
			->confidence = -1;
	buf_done(&text);
}

static void say_stage(struct section *s, const struct live_advice *a)
{
	struct buf text = { 0 };

	buf_fmt(&text, STR_FMT ": ", STR_ARG(a->name));
	for (size_t i = 0; i < a->nr_operations; i++)
		buf_fmt(&text, "%s" STR_FMT, i ? "\n    " : "", STR_ARG(a->operations[i]));
	buf_fmt(&text, "\n    at");
	for (size_t i = 0; i < a->nr_at; i++)
		buf_fmt(&text, "%s " STR_FMT, i ? "," : "", STR_ARG(a->at[i]));
	section_say(s, NULL, STR_FMT, STR_ARG(buf_str(&text)))->confidence = -1;
	buf_done(&text);
}

void advice_report(struct report *r, const struct live_advice *a)
{
	if (!r->sections.nr) {
		report_table(r, "advice", "", columns, NR_COLUMNS)->json_only = true;
		report_section(r, SECTION_PROSE, "plan", "")->text_only = true;
		report_section(r, SECTION_PROSE, "costs", "")->text_only = true;
	}
	add_row(r->sections.v[0], a);
	say_stage(r->sections.v[1], a);
	say_costs(r->sections.v[2], a);
}
