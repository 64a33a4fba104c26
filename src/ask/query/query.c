#include "ask/query/query.h"

#include <errno.h>

#include "ask/query/explain.h"
#include "ask/query/moments.h"
#include "base/error.h"
#include "model/live.h"
#include "query/lex.h"
#include "query/near.h"
#include "query/parse.h"
#include "report/buckets.h"
#include "report/report.h"
#include "store/store.h"

struct telling {
	struct report *report;
	struct section *out;
	struct column *columns;
	const struct names *names;
	uint64_t nr;
};

/* --- what is not there ------------------------------------------------------------------------ */

static int unknown_point(const struct gathered *g, const struct source_name *s, struct error *err)
{
	struct near near;
	size_t most = 0;

	near_begin(&near, s->name);
	for (size_t i = 1; i < g->stages.nr; i++)
		near_offer(&near, names_str(&g->points, (sym_t)i));
	for (size_t i = 1; i < g->stages.nr; i++)
		if (!most || g->nr_of_point.v[i] > g->nr_of_point.v[most])
			most = i;
	if (!most)
		return lex_error(g->plan->text, s->place, err,
				 "there is no tracepoint in this run");
	if (near.best.n)
		return lex_error(g->plan->text, s->place, err,
				 "there is no tracepoint '" STR_FMT "'; did you mean '" STR_FMT
				 "'?",
				 STR_ARG(s->name), STR_ARG(near.best));
	return lex_error(g->plan->text, s->place, err,
			 "there is no tracepoint '" STR_FMT "'; there is, for example, '" STR_FMT
			 "'",
			 STR_ARG(s->name), STR_ARG(names_str(&g->points, (sym_t)most)));
}

static bool is_there(const struct gathered *g, uint32_t stage)
{
	for (size_t i = 0; i < g->stages.nr; i++)
		if (g->stages.v[i] >> stage & 1 && g->nr_of_point.v[i])
			return true;
	return false;
}

/* One of several may be missing: a union is of what there is. */
static int check_points(const struct gathered *g, struct error *err)
{
	for (uint32_t i = 0; i < g->plan->stages.nr; i++)
		if (!is_there(g, i) && g->plan->stages.v[i].nr_points)
			return unknown_point(g, &g->plan->stages.v[i].points[0], err);
	return 0;
}

static int check_fields(const struct gathered *g, struct error *err)
{
	static const char *const defaults[] = { "time",   "host",    "procName",
						"procId", "thread",  "tracepoint",
						"id",     "request", "duration" };

	for (uint32_t i = 0; i < g->plan->variables.nr; i++) {
		const struct variable *v = &g->plan->variables.v[i];
		struct near near;
		bool is_default = false;

		if (!v->field.n || g->is_seen[i])
			continue;
		near_begin(&near, v->field);
		for (size_t k = 0; k < sizeof(defaults) / sizeof(*defaults); k++) {
			is_default |= str_eq(v->field, str_of(defaults[k]));
			near_offer(&near, str_of(defaults[k]));
		}
		for (sym_t k = 1; k < g->fields.nr; k++)
			near_offer(&near, names_str(&g->fields, k));
		if (is_default)
			continue;
		return lex_error(g->plan->text, v->place, err,
				 "no event of '" STR_FMT "' has '" STR_FMT "'%s" STR_FMT "%s",
				 STR_ARG(g->plan->stages.v[v->stage].alias), STR_ARG(v->field),
				 near.best.n ? "; did you mean '" : "", STR_ARG(near.best),
				 near.best.n ? "'?" : "");
	}
	return 0;
}

/* --- the answer ------------------------------------------------------------------------------- */

static void set_buckets(struct telling *t, struct row *row, size_t column, const struct buckets *b)
{
	struct arena *arena = &t->report->rows_arena;
	struct live_bucket *v = arena_array(arena, struct live_bucket, b->v.nr + 1);

	for (size_t i = 0; i < b->v.nr; i++)
		v[i] = (struct live_bucket){ b->v.v[i].from, b->v.v[i].to, b->v.v[i].nr };
	buckets_rows(t->out, row, column, v, b->v.nr);
	buckets_range(t->out, row, column + 1, v, b->v.nr);
	buckets_bars(t->out, row, column + 2, v, b->v.nr);
}

static bool is_histogram(const struct expr *e)
{
	return e->kind == EXPR_AGGREGATE && e->function == AGGREGATE_HISTOGRAM;
}

/* Columns have no type of their own: each cell has that of its value. */
static int add_row(void *ctx, const struct answer_cell *cells, size_t nr)
{
	struct telling *t = ctx;
	struct row *row = section_row(t->out);

	for (size_t i = 0, at = 0; i < nr; i++, at++) {
		struct value v = cells[i].value;
		struct cell *c = &row->cells[at];

		if (cells[i].buckets)
			set_buckets(t, row, at, cells[i].buckets);
		else if (v.type == VALUE_TEXT)
			row_text(t->out, row, at, names_str(t->names, v.text));
		else if (v.type == VALUE_DOUBLE)
			*c = (struct cell){ .type = CELL_NUMBER, .d = v.d };
		else if (v.type != VALUE_NULL)
			*c = (struct cell){ .type = v.type == VALUE_BOOL ? CELL_BOOL : CELL_COUNT,
					    .i = v.i };
		at += cells[i].buckets ? 2 : 0;
	}
	t->nr++;
	report_spill(t->report, t->out);
	return 0;
}

static int ignore_row(void *ctx, const struct answer_cell *cells, size_t nr)
{
	(void)ctx;
	(void)cells;
	(void)nr;
	return 0;
}

static void begin_table(struct telling *t, const struct plan *p)
{
	size_t nr = 0;

	t->columns = arena_array(&t->report->arena, struct column, 3 * p->output.selects.nr);
	vec_each (&p->output.selects, s) {
		const char *name = arena_z(&t->report->arena, s->name);

		t->columns[nr++] = (struct column){ name, name, CELL_TEXT, 0 };
		if (!is_histogram(s->expr))
			continue;
		t->columns[nr - 1].flags = COLUMN_JSON_ONLY;
		t->columns[nr++] = (struct column){ NULL, name, CELL_TEXT, COLUMN_TEXT_ONLY };
		t->columns[nr++] = buckets_column;
	}
	t->out = report_table(t->report, "rows", "", t->columns, nr);
}

static int answer(const struct plan *p, struct gathered *g, bool explain, struct report *report,
		  struct error *err)
{
	struct happened h = moments_happened(g);
	struct observer_of_events events = moments_observer(g);
	struct telling t = { .report = report, .names = &g->names };
	struct answer to = { &t, explain ? ignore_row : add_row };
	struct run_counts counts[STAGES_MAX] = { 0 };
	struct order order;
	struct query_run q = { .plan = p,
			       .happened = &h,
			       .order = &order,
			       .events = &events,
			       .names = &g->names,
			       .answer = &to,
			       .counts = explain ? counts : NULL };
	int got;

	order_make(&order, &h);
	report->losses.count[LOSS_CAUSES_CIRCULAR] += order.nr_circular;
	if (!explain)
		begin_table(&t, p);
	got = query_run(&q, err);
	order_done(&order);
	if (got < 0)
		return got;
	if (explain)
		explain_report(p, g, counts, report);
	else if (!t.nr)
		section_say(report_section(report, SECTION_PROSE, "summary", ""), NULL,
			    "No tuple is an answer to this.");
	return explain || t.nr ? 0 : 1;
}

static int run(struct store *const *runs, const struct args *args, struct report *report,
	       struct error *err)
{
	struct arena arena = { 0 };
	struct queries queries;
	struct gathered g;
	struct plan plan;
	const char *text = args_get(args, "query");
	int got;

	if (!text)
		return error_set(err, EINVAL,
				 "what is asked? culprit query RUN 'From e In POINT "
				 "Select COUNT'");
	got = query_parse(str_of(text), &arena, &queries, err);
	if (got >= 0)
		got = query_plan(&plan, &queries, REWRITE_ALL, &arena, err);
	if (got >= 0) {
		moments_init(&g, &plan);
		got = moments_run(&g, runs[0], err);
		if (got >= 0)
			got = check_points(&g, err);
		if (got >= 0)
			got = check_fields(&g, err);
		if (got >= 0)
			got = answer(&plan, &g, args_has(args, "explain"), report, err);
		moments_done(&g);
		query_plan_done(&plan);
	}
	arena_done(&arena);
	return got;
}

static const struct option options[] = {
	{ "query", "TEXT", "the query, which may also stand last" },
	{ "explain", NULL, "show what is done at each tracepoint, and what is packed" },
	{ 0 },
};

static const struct example examples[] = {
	{ "query run.culprit 'From p In pay Join c In First(checkout) On c -> p Select c.host, "
	  "COUNT, MAX(p.duration)'",
	  "how often, and how long, each shop pays" },
	{ "query run.culprit --explain 'From p In pay Join c In checkout On c -> p GroupBy c.host "
	  "Select c.host, COUNT'",
	  "what is done at each tracepoint, and what is packed" },
	{ 0 },
};

const struct question ask_query = {
	.name = "query",
	.summary = "ask a query of your own: events joined by what happened before",
	.nr_runs = 1,
	.options = options,
	.examples = examples,
	.run = run,
};
