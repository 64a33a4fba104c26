#include "ask/query/explain.h"

#include "ask/query/moments.h"
#include "base/buf.h"
#include "report/report.h"

enum { ADVICE, AT, OPERATIONS, RULE, TUPLES, BYTES, MOST, EVENTS, NR_COLUMNS };

static const struct column columns[NR_COLUMNS] = {
	[ADVICE] = { "advice", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[AT] = { "at", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	[OPERATIONS] = { "operations", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	[RULE] = { "rule", NULL, CELL_TEXT, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[TUPLES] = { "tuples", NULL, CELL_NUMBER, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[BYTES] = { "bytes", NULL, CELL_NUMBER, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[MOST] = { "most", NULL, CELL_COUNT, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[EVENTS] = { "events", NULL, CELL_COUNT, COLUMN_JSON_ONLY },
};

static const struct column bare[] = { { NULL, NULL, CELL_TEXT, 0 } };

struct explaining {
	const struct plan *p;
	const struct gathered *g;
	const struct run_counts *counts;
	struct section *table, *said;
};

static uint64_t nr_events(const struct gathered *g, uint32_t stage)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < g->stages.nr; i++)
		if (g->stages.v[i] >> stage & 1)
			nr += g->nr_of_point.v[i];
	return nr;
}

/* As baggage writes them: a byte for the type, a length for text, eight bytes at most for numbers.
 */
static double bytes_of_variable(const struct gathered *g, uint32_t variable)
{
	const struct variable *v = &g->plan->variables.v[variable];
	uint64_t nr = 0, bytes = 0;

	for (size_t i = 0; v->field.n && i < g->ns.nr && nr < 1000; i++) {
		struct value row[VARIABLES_MAX];
		struct observer_of_events o = moments_observer((struct gathered *)g);

		if (!(g->stages.v[g->point.v[i]] >> v->stage & 1))
			continue;
		o.observe(o.ctx, (uint32_t)i, v->stage, row);
		bytes += row[variable].type == VALUE_TEXT
				 ? 2 + names_str(&g->names, row[variable].text).n
				 : 9;
		nr++;
	}
	return nr ? (double)bytes / (double)nr : 9;
}

static double bytes_of_tuple(const struct explaining *x, const struct stage *s)
{
	double bytes = (double)(9 * (s->partials.nr + s->is_grouped));

	vec_each (&s->packed, v)
		bytes += bytes_of_variable(x->g, *v);
	return bytes;
}

static void say_stage(struct explaining *x, const struct advice *a, size_t number)
{
	const struct stage *s = &x->p->stages.v[a->stage];
	struct buf text = { 0 };

	buf_fmt(&text, "A%zu: ", number);
	vec_each (&a->operations, op)
		buf_fmt(&text, "%s" STR_FMT, op == a->operations.v ? "" : "\n    ", STR_ARG(*op));
	buf_fmt(&text, "\n    at");
	for (size_t i = 0; i < s->nr_points; i++)
		buf_fmt(&text, "%s " STR_FMT, i ? "," : "", STR_ARG(s->points[i].name));
	section_say(x->said, NULL, STR_FMT, STR_ARG(buf_str(&text)))->confidence = -1;
	buf_done(&text);
}

static void list(struct section *t, struct row *row, size_t column, const struct str *v, size_t nr)
{
	struct section *in = row_rows(t, row, column, bare, 1);

	for (size_t i = 0; i < nr; i++)
		row_text(in, section_row(in), 0, v[i]);
}

static void row_of(struct explaining *x, const struct advice *a, size_t number)
{
	const struct stage *s = &x->p->stages.v[a->stage];
	const struct run_counts *c = &x->counts[a->stage];
	struct row *row = section_row(x->table);
	struct section *at;
	double tuples;

	row_fmt(x->table, row, ADVICE, "A%zu", number);
	at = row_rows(x->table, row, AT, bare, 1);
	for (size_t i = 0; i < s->nr_points; i++)
		row_text(at, section_row(at), 0, s->points[i].name);
	list(x->table, row, OPERATIONS, a->operations.v, a->operations.nr);
	row_int(x->table, row, EVENTS, (int64_t)nr_events(x->g, a->stage));
	if (!a->stage)
		return;
	if (s->is_grouped)
		row_text(x->table, row, RULE, str_of(rewrite_name(s->rule)));
	tuples = c->nr_behind ? (double)c->carried / (double)c->nr_behind : 0;
	row_double(x->table, row, TUPLES, tuples);
	row_double(x->table, row, BYTES, tuples * bytes_of_tuple(x, s));
	row_int(x->table, row, MOST, (int64_t)c->most);
	section_say(
		x->said, NULL,
		"A%zu packs %.3g tuples (%.0f bytes) on average where it packed anything, %llu at "
		"most; %llu events.%s%s",
		number, tuples, tuples * bytes_of_tuple(x, s), (unsigned long long)c->most,
		(unsigned long long)nr_events(x->g, a->stage),
		s->is_grouped ? " Equal tuples are packed as one: " : "",
		s->is_grouped ? rewrite_name(s->rule) : "")
		->confidence = -1;
}

void explain_report(const struct plan *p, const struct gathered *g, const struct run_counts *counts,
		    struct report *report)
{
	struct explaining x = { .p = p, .g = g, .counts = counts };
	struct advices a = { 0 };

	plan_explain(p, &report->arena, &a);
	x.table = report_table(report, "advice", "", columns, NR_COLUMNS);
	x.table->json_only = true;
	x.said = report_section(report, SECTION_PROSE, "plan", "");
	x.said->text_only = true;
	for (size_t i = 0; i < a.v.nr; i++)
		say_stage(&x, &a.v.v[i], i + 1);
	for (size_t i = 0; i < a.v.nr; i++)
		row_of(&x, &a.v.v[i], i + 1);
	advices_done(&a);
}
