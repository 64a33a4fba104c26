#include "ask/requests/overtime.h"

#include <stdlib.h>

#include "ask/contrast.h"
#include "ask/length.h"
#include "ask/series.h"
#include "ask/types.h"
#include "base/time.h"
#include "report/report.h"
#include "store/store.h"

#define TYPES_SHOWN 5

enum { TYPE, START, END, COUNT, ERRORS, P50, P90, P99, MAX, BAR };

static const struct column step_columns[] = {
	[TYPE] = { "type", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[START] = { "start", "from", CELL_TIME, 0 },
	[END] = { "end", NULL, CELL_TIME, COLUMN_JSON_ONLY },
	[COUNT] = { "count", "count", CELL_COUNT, 0 },
	[ERRORS] = { "errors", "errors", CELL_COUNT, 0 },
	[P50] = { "p50", "p50", CELL_DURATION, 0 },
	[P90] = { "p90", "p90", CELL_DURATION, 0 },
	[P99] = { "p99", "p99", CELL_DURATION, 0 },
	[MAX] = { "max", "max", CELL_DURATION, 0 },
	[BAR] = { NULL, "p99", CELL_BAR, COLUMN_TEXT_ONLY },
};

static void add_steps(const struct type_stat *t, const struct series *series, struct section *s)
{
	int64_t top = 1;

	for (size_t i = 0; i < series->nr; i++)
		top = series->v[i].p99 > top ? series->v[i].p99 : top;
	for (size_t i = 0; i < series->nr; i++) {
		const struct series_step *step = &series->v[i];
		struct row *row = section_row(s);

		row_text(s, row, TYPE, t->name);
		row_int(s, row, START, step->start);
		row_int(s, row, END, step->end);
		row_int(s, row, COUNT, (int64_t)step->count);
		row_int(s, row, ERRORS, (int64_t)step->errors);
		if (!step->count)
			continue;
		row_int(s, row, P50, step->p50);
		row_int(s, row, P90, step->p90);
		row_int(s, row, P99, step->p99);
		row_int(s, row, MAX, step->max);
		row_bar(s, row, BAR, 0, (double)step->p99 / (double)top, 'r');
	}
}

/* --- when it began --------------------------------------------------------------------------- */

enum { C_TYPE, C_BEGIN, C_END, C_IN, C_OUT, C_REQUESTS, C_CONFIDENCE };

static const struct column change_columns[] = {
	[C_TYPE] = { "type", "slow time of", CELL_TEXT, COLUMN_WIDE },
	[C_BEGIN] = { "begin", "began", CELL_TIME, 0 },
	[C_END] = { "end", "ended", CELL_TIME, 0 },
	[C_IN] = { "mean_inside", "mean inside", CELL_DURATION, 0 },
	[C_OUT] = { "mean_outside", "outside", CELL_DURATION, 0 },
	[C_REQUESTS] = { "requests", "requests", CELL_COUNT, 0 },
	[C_CONFIDENCE] = { "confidence", "confidence", CELL_NUMBER, 0 },
};

static void add_change(const struct type_stat *t, struct section *s)
{
	struct arena arena = { 0 };
	struct episode e;
	struct row *row;

	series_episode(t->timings.v, t->timings.nr, &arena, &e);
	arena_done(&arena);
	if (!e.found)
		return;
	row = section_row(s);
	row_text(s, row, C_TYPE, t->name);
	if (!e.from_first)
		row_int(s, row, C_BEGIN, e.begin);
	if (!e.to_last)
		row_int(s, row, C_END, e.end);
	row_int(s, row, C_IN, e.mean_in);
	row_int(s, row, C_OUT, e.mean_out);
	row_int(s, row, C_REQUESTS, (int64_t)e.nr);
	row_double(s, row, C_CONFIDENCE, e.confidence);
}

/* --- mean per node --------------------------------------------------------------------------- */

enum { N_TYPE, N_NODE, N_REQUESTS, N_SPANS, N_MEAN, N_CRITICAL, N_SHARE };

static const struct column node_columns[] = {
	[N_TYPE] = { "type", "type", CELL_TEXT, COLUMN_WIDE },
	[N_NODE] = { "node", "node", CELL_TEXT, 0 },
	[N_REQUESTS] = { "requests", "requests", CELL_COUNT, 0 },
	[N_SPANS] = { "spans", "spans", CELL_COUNT, 0 },
	[N_MEAN] = { "mean", "mean time there", CELL_DURATION, 0 },
	[N_CRITICAL] = { "critical", "critical", CELL_DURATION, 0 },
	[N_SHARE] = { "share", "share", CELL_SHARE, 0 },
};

/* One node in the requests of one type. */
struct stay {
	uint64_t requests, spans;
	double ns, critical;
	uint64_t last;       /* the request that was seen last */
	int64_t from, until; /* and when it was here */
};

struct nodes {
	const struct types *types;
	struct hops tree; /* type, then node */
	VEC(struct stay) stays;
	struct arena arena;
};

static struct stay *stay_of(struct nodes *n, uint32_t type, struct str node,
			    const struct request *r)
{
	uint32_t hop = hops_below(&n->tree, hops_type(&n->tree, type), node, STR(""));
	struct stay *s;

	while (n->stays.nr <= hop)
		vec_push(&n->stays, (struct stay){ 0 });
	s = &n->stays.v[hop];
	if (s->last != r->id) {
		s->ns += (double)length_ns(s->from, s->until);
		s->from = INT64_MAX;
		s->until = INT64_MIN;
		s->last = r->id;
		s->requests++;
	}
	return s;
}

static int add_body(void *ctx, const struct request *r, const struct request_body *body)
{
	struct nodes *n = ctx;
	uint32_t type = types_find(n->types, r->type);
	struct critical path;

	if (type == TYPE_NONE)
		return 0;
	for (size_t i = 0; i < body->nr_spans; i++) {
		const struct span *sp = &body->spans[i];
		struct stay *s = stay_of(n, type, sp->node, r);

		s->spans++;
		if (sp->start < s->from)
			s->from = sp->start;
		if (sp->end > s->until)
			s->until = sp->end;
	}
	arena_reset(&n->arena);
	critical_path(body, &n->arena, &path);
	for (size_t i = 0; i < path.nr; i++)
		if (path.v[i].span != SPAN_NONE)
			stay_of(n, type, body->spans[path.v[i].span].node, r)->critical +=
				(double)length_ns(path.v[i].start, path.v[i].end);
	return 0;
}

static int most_critical(const void *a, const void *b)
{
	const struct cell *x = ((const struct row *)a)->cells, *y = ((const struct row *)b)->cells;

	if (x[N_SHARE].d != y[N_SHARE].d)
		return x[N_SHARE].d > y[N_SHARE].d ? -1 : 1;
	return str_cmp(x[N_NODE].text, y[N_NODE].text);
}

static void add_nodes(struct nodes *n, uint32_t type, struct section *s)
{
	size_t first = s->rows.nr;
	const struct type_stat *t = &n->types->v.v[type];
	uint32_t top = hops_type(&n->tree, type);
	double whole = 0;

	vec_each (&t->timings, m)
		whole += (double)m->duration;
	for (uint32_t i = n->tree.v.v[top].next; i != HOP_NONE; i = n->tree.v.v[i].next) {
		struct stay *x = &n->stays.v[i];
		struct row *row = section_row(s);

		x->ns += (double)length_ns(x->from, x->until);
		row_text(s, row, N_TYPE, t->name);
		row_text(s, row, N_NODE, hops_node(&n->tree, i));
		row_int(s, row, N_REQUESTS, (int64_t)x->requests);
		row_int(s, row, N_SPANS, (int64_t)x->spans);
		row_int(s, row, N_MEAN, length_of(x->ns / (double)x->requests));
		row_int(s, row, N_CRITICAL, length_of(x->critical / (double)x->requests));
		row_double(s, row, N_SHARE, whole > 0 ? x->critical / whole : 0);
	}
	if (s->rows.nr > first)
		qsort(s->rows.v + first, s->rows.nr - first, sizeof(*s->rows.v), most_critical);
}

static int report_nodes(struct store *s, const struct request_filter *f, const struct types *types,
			size_t most, struct report *report, struct error *err)
{
	struct nodes n = { .types = types };
	int r = store_each_body(s, f, add_body, &n, err);
	struct section *out = report_table(report, "nodes", "Mean per node", node_columns,
					   sizeof(node_columns) / sizeof(*node_columns));

	out->tagged = true;
	for (size_t i = 0; i < most && r >= 0; i++)
		add_nodes(&n, types->order.v[i], out);
	hops_done(&n.tree);
	vec_done(&n.stays);
	arena_done(&n.arena);
	return r;
}

static void report_steps(const struct types *t, size_t most, size_t steps, struct report *report)
{
	for (size_t i = 0; i < most; i++) {
		const struct type_stat *type = &t->v.v[t->order.v[i]];
		struct section *s = report_table(report, "over-time", "", step_columns,
						 sizeof(step_columns) / sizeof(*step_columns));
		struct arena arena = { 0 };
		struct series series;

		s->title = arena_str(&report->arena, type->name);
		series_make(type->timings.v, type->timings.nr, t->first, t->last, steps, &arena,
			    &series);
		add_steps(type, &series, s);
		if (i + 1 == most)
			s->nr_left_out = t->order.nr - most;
		arena_done(&arena);
	}
}

int overtime_report(struct store *s, const struct request_filter *f, size_t steps, bool for_people,
		    struct report *report, struct error *err)
{
	struct types types;
	int r = types_collect(&types, s, f, err);
	size_t most = types.order.nr;

	if (for_people && most > TYPES_SHOWN)
		most = TYPES_SHOWN;
	if (r >= 0) {
		struct section *changes;

		report_steps(&types, most, steps, report);
		changes = report_table(report, "changes", "", change_columns,
				       sizeof(change_columns) / sizeof(*change_columns));
		changes->tagged = true;
		vec_each (&types.order, i)
			add_change(&types.v.v[*i], changes);
		r = report_nodes(s, f, &types, most, report, err);
	}
	if (r >= 0)
		r = !types.nr_requests;
	types_done(&types);
	return r;
}
