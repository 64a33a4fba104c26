/*
 * Two runs on the mathematics of slow against normal: all requests of a type before against all of
 * it after. A type weighs as much as it is frequent (mean of its parts in both runs), so that the
 * differences of all hops add up to the difference that the mean request feels at equal traffic.
 * Types that only one run has, and changes of rate, are rows without a share.
 */
#include "ask/diff/diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ask/contrast.h"
#include "ask/length.h"
#include "ask/types.h"
#include "base/error.h"
#include "base/time.h"
#include "report/report.h"
#include "store/store.h"

#define ROWS_SHOWN 20
#define CANCELLED 0.05 /* the sum is so small a part of its parts that shares of it mean little */

struct change {
	uint32_t type;
	const struct contrast_row *row; /* NULL for a whole type */
	double before, after, weighed;  /* weighed: delta times the weight of the type */
	double share;
	size_t place; /* keeps equal ones in a fixed order */
};

struct diff {
	struct arena arena;
	struct types types[SIDES];
	struct contrast contrast;
	struct names names; /* types of both runs; their numbers */
	enum contrast_side side;
	VEC(struct change) changes;
	bool asked[SIDES]; /* whether the run has the type that is asked for */
	bool cancelled;
};

static void diff_done(struct diff *d)
{
	types_done(&d->types[SIDE_BASE]);
	types_done(&d->types[SIDE_OTHER]);
	contrast_done(&d->contrast);
	names_done(&d->names);
	vec_done(&d->changes);
	arena_done(&d->arena);
}

static int add_body(void *ctx, const struct request *r, const struct request_body *body)
{
	struct diff *d = ctx;

	contrast_add(&d->contrast, names_add(&d->names, r->type), d->side, false, r, body);
	return 0;
}

static int collect(struct diff *d, struct store *const *runs, const struct request_filter *filters,
		   struct error *err)
{
	int r = 0;

	for (int side = 0; side < SIDES && r >= 0; side++) {
		d->side = (enum contrast_side)side;
		if (!d->asked[side])
			continue;
		r = types_collect(&d->types[side], runs[side], &filters[side], err);
		if (r >= 0)
			r = store_each_body(runs[side], &filters[side], add_body, d, err);
	}
	return r;
}

/* How much a type counts: the mean of its parts of both runs, among types that both have. */
static double weight_of(const struct diff *d, uint32_t type, const double *common)
{
	const struct contrast_set *set = &d->contrast.sets.v[type];

	return ((double)set->nr[SIDE_BASE] / common[SIDE_BASE] +
		(double)set->nr[SIDE_OTHER] / common[SIDE_OTHER]) /
	       2;
}

static bool in_both(const struct contrast_set *s)
{
	return s->nr[SIDE_BASE] && s->nr[SIDE_OTHER];
}

static void add_rows(struct diff *d, uint32_t type, double weight, const struct contrast_row *rows,
		     size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		vec_push(&d->changes, (struct change){ .type = type,
						       .row = &rows[i],
						       .before = rows[i].mean[SIDE_BASE],
						       .after = rows[i].mean[SIDE_OTHER],
						       .weighed = weight * rows[i].delta,
						       .place = i });
}

static int largest_first(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

static void share_out(struct diff *d)
{
	double sum = 0, size = 0;

	vec_each (&d->changes, c) {
		sum += c->weighed;
		size += fabs(c->weighed);
	}
	d->cancelled = fabs(sum) < CANCELLED * size;
	vec_each (&d->changes, c) {
		if (d->cancelled)
			c->share = size > 0 ? fabs(c->weighed) / size : 0;
		else
			c->share = sum != 0 ? c->weighed / sum : 0;
	}
	if (d->changes.nr)
		qsort(d->changes.v, d->changes.nr, sizeof(*d->changes.v), largest_first);
}

/* by: 'h' hops, 'n' nodes, 't' types */
static void compare(struct diff *d, char by)
{
	double common[SIDES] = { 0 };

	for (uint32_t t = 0; t < d->contrast.sets.nr; t++)
		for (int side = 0; side < SIDES && in_both(&d->contrast.sets.v[t]); side++)
			common[side] += (double)d->contrast.sets.v[t].nr[side];
	for (uint32_t t = 0; t < d->contrast.sets.nr; t++) {
		struct contrast_answer a;
		double weight;

		if (!in_both(&d->contrast.sets.v[t]))
			continue;
		weight = weight_of(d, t, common);
		contrast_answer(&d->contrast, t, &d->arena, &a);
		if (by == 'h')
			add_rows(d, t, weight, a.hops, a.nr_hops);
		else if (by == 'n')
			add_rows(d, t, weight, a.nodes, a.nr_nodes);
		else
			vec_push(&d->changes,
				 (struct change){ .type = t,
						  .before = a.mean[SIDE_BASE],
						  .after = a.mean[SIDE_OTHER],
						  .weighed = weight * (a.mean[SIDE_OTHER] -
								       a.mean[SIDE_BASE]) });
	}
	share_out(d);
}

/* --- the report ------------------------------------------------------------------------------ */

enum { WHAT, TYPE, NODE, NAME, PATH, BEFORE, AFTER, DELTA, SHARE };

static const struct column columns[] = {
	[WHAT] = { "what", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[TYPE] = { "type", "type", CELL_TEXT, COLUMN_WIDE },
	[NODE] = { "node", "node", CELL_TEXT, 0 },
	[NAME] = { "name", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[PATH] = { "path", "path", CELL_TEXT, COLUMN_WIDE },
	[BEFORE] = { "before", "before", CELL_DURATION, 0 },
	[AFTER] = { "after", "after", CELL_DURATION, 0 },
	[DELTA] = { "delta", "delta", CELL_DURATION, 0 },
	[SHARE] = { "share", "share", CELL_SHARE, 0 },
};

static void add_change(const struct diff *d, const struct change *c, struct section *s)
{
	const struct hops *h = &d->contrast.hops;
	struct row *row = section_row(s);
	struct buf path = { 0 };
	bool hop = c->row && c->row->hop != HOP_NONE;

	row_text(s, row, WHAT, hop ? STR("hop") : c->row ? STR("node") : STR("type"));
	row_text(s, row, TYPE, names_str(&d->names, c->type));
	row_text(s, row, NODE, c->row ? names_str(&h->names, c->row->node) : STR(""));
	if (hop) {
		hops_path(h, c->row->hop, &path);
		row_text(s, row, NAME, hops_name(h, c->row->hop));
		row_text(s, row, PATH, buf_str(&path));
	} else if (!c->row) {
		row_text(s, row, PATH, names_str(&d->names, c->type));
	}
	row_int(s, row, BEFORE, length_of(c->before));
	row_int(s, row, AFTER, length_of(c->after));
	row_int(s, row, DELTA, length_of(c->after) - length_of(c->before));
	row_double(s, row, SHARE, c->share);
	buf_done(&path);
}

static void report_changes(const struct diff *d, bool for_people, struct report *r)
{
	struct section *s = report_table(r, "changes", "What changed", columns,
					 sizeof(columns) / sizeof(*columns));

	vec_each (&d->changes, c) {
		if (for_people && s->rows.nr == ROWS_SHOWN)
			break;
		add_change(d, c, s);
	}
	s->nr_left_out = d->changes.nr - s->rows.nr;
	if (s->rows.nr)
		s->rows.v[0].strong = true;
}

enum {
	T_WHAT,
	T_TYPE,
	T_STATUS,
	T_COUNT0,
	T_COUNT1,
	T_RATE0,
	T_RATE1,
	T_MEAN0,
	T_MEAN1,
	T_P500,
	T_P501,
	T_P990,
	T_P991
};

static const struct column type_columns[] = {
	[T_WHAT] = { "what", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[T_TYPE] = { "type", "type", CELL_TEXT, COLUMN_WIDE },
	[T_STATUS] = { "status", "", CELL_TEXT, 0 },
	[T_COUNT0] = { "count_before", "count", CELL_COUNT, 0 },
	[T_COUNT1] = { "count_after", "after", CELL_COUNT, 0 },
	[T_RATE0] = { "rate_before", NULL, CELL_NUMBER, COLUMN_JSON_ONLY },
	[T_RATE1] = { "rate_after", NULL, CELL_NUMBER, COLUMN_JSON_ONLY },
	[T_MEAN0] = { "before", "mean", CELL_DURATION, 0 },
	[T_MEAN1] = { "after", "after", CELL_DURATION, 0 },
	[T_P500] = { "p50_before", "p50", CELL_DURATION, 0 },
	[T_P501] = { "p50_after", "after", CELL_DURATION, 0 },
	[T_P990] = { "p99_before", "p99", CELL_DURATION, 0 },
	[T_P991] = { "p99_after", "after", CELL_DURATION, 0 },
};

static void fill_side(const struct diff *d, int side, struct str name, struct section *s,
		      struct row *row)
{
	const struct types *t = &d->types[side];
	uint32_t type = types_find(t, name);
	double whole = ((double)t->last - (double)t->first) / NS_S, sum = 0;
	const struct type_stat *stat;

	row_int(s, row, (size_t)T_COUNT0 + side, 0);
	if (type == TYPE_NONE)
		return;
	stat = &t->v.v[type];
	vec_each (&stat->timings, m)
		sum += (double)m->duration;
	row_int(s, row, (size_t)T_COUNT0 + side, (int64_t)stat->timings.nr);
	if (whole > 0)
		row_double(s, row, (size_t)T_RATE0 + side, (double)stat->timings.nr / whole);
	row_int(s, row, (size_t)T_MEAN0 + side, length_of(sum / (double)stat->timings.nr));
	row_int(s, row, (size_t)T_P500 + side, stat->p50);
	row_int(s, row, (size_t)T_P990 + side, stat->p99);
}

/* A row for each type; scripts get those of one run only, and all of them with --types. */
static void report_types(const struct diff *d, bool all, bool for_people, struct report *r)
{
	struct section *s = report_table(r, "types", "By type", type_columns,
					 sizeof(type_columns) / sizeof(*type_columns));

	for (int side = 0; side < SIDES; side++) {
		vec_each (&d->types[side].order, o) {
			struct str name = d->types[side].v.v[*o].name;
			bool other = types_find(&d->types[!side], name) != TYPE_NONE;
			struct row *row;

			if (other && (side == SIDE_OTHER || (!all && !for_people)))
				continue;
			row = section_row(s);
			row_text(s, row, T_WHAT, STR("type"));
			row_text(s, row, T_TYPE, name);
			row_text(s, row, T_STATUS,
				 other                ? STR("both")
				 : side == SIDE_OTHER ? STR("new")
						      : STR("gone"));
			fill_side(d, SIDE_BASE, name, s, row);
			fill_side(d, SIDE_OTHER, name, s, row);
		}
	}
}

static void say_it(const struct diff *d, struct report *r)
{
	struct section *s = report_section(r, SECTION_PROSE, "answer", "");
	const struct change *top = d->changes.nr ? &d->changes.v[0] : NULL;
	struct buf b = { 0 };

	s->text_only = true;
	if (!top || (top->share == 0 && !d->cancelled)) {
		buf_add(&b, STR("No type of request is in both runs with a different latency."));
	} else {
		buf_fmt(&b, "%.0f %% of the difference is ", 100 * top->share);
		if (top->row && top->row->hop != HOP_NONE)
			buf_fmt(&b, "in \"" STR_FMT "\" ",
				STR_ARG(hops_name(&d->contrast.hops, top->row->hop)));
		if (top->row && top->row->node)
			buf_fmt(&b, "on " STR_FMT " ",
				STR_ARG(names_str(&d->contrast.hops.names, top->row->node)));
		buf_fmt(&b, "in requests of type " STR_FMT ": ",
			STR_ARG(names_str(&d->names, top->type)));
		time_span_text(&b, length_of(top->before));
		buf_add(&b, STR(" before, "));
		time_span_text(&b, length_of(top->after));
		buf_add(&b, STR(" after."));
	}
	if (d->cancelled && top)
		buf_add(&b, STR(" Gains and losses cancel out; shares are of both together."));
	section_say(s, "", STR_FMT, STR_ARG(buf_str(&b)))->confidence = -1;
	buf_done(&b);
}

static int read_by(const struct args *args, char *by, struct error *err)
{
	const char *text = args_get(args, "by");

	*by = 'h';
	if (!text)
		return 0;
	if (strcmp(text, "hop") && strcmp(text, "node") && strcmp(text, "type"))
		return error_set(err, EINVAL, "--by takes hop, node or type, not '%s'", text);
	*by = text[0];
	return 0;
}

/* A type that only one of the runs has is no reason to fail. */
static int read_filters(const struct args *args, struct store *const *runs,
			struct request_filter *filters, bool *asked, struct error *err)
{
	const char *type = args_get(args, "type");

	for (int side = 0; side < SIDES; side++) {
		int r = 1;

		if (type)
			r = store_find_type(runs[side], str_of(type), &filters[side].type, err);
		if (r < 0)
			return r;
		asked[side] = r;
	}
	return asked[SIDE_BASE] || asked[SIDE_OTHER] ? 0 : -EINVAL;
}

static int run(struct store *const *runs, const struct args *args, struct report *report,
	       struct error *err)
{
	struct request_filter filters[SIDES] = { 0 };
	struct diff d = { 0 };
	bool people = args_for_people(args);
	char by;
	int r = read_by(args, &by, err);

	if (r >= 0)
		r = read_filters(args, runs, filters, d.asked, err);
	if (r < 0)
		return r;
	r = collect(&d, runs, filters, err);
	if (r >= 0) {
		compare(&d, by);
		if (people) /* who reads on the screen wants the answer last, a script first */
			report_types(&d, false, true, report);
		report_changes(&d, people, report);
		if (!people)
			report_types(&d, args_has(args, "types"), false, report);
		say_it(&d, report);
		r = d.types[SIDE_BASE].nr_requests || d.types[SIDE_OTHER].nr_requests ? 0 : 1;
	}
	diff_done(&d);
	return r;
}

static const struct option options[] = {
	{ "by", "WHAT", "split the difference by hop (default), by node or by type" },
	{ "type", "TYPE", "only this type of request" },
	{ "types", NULL, "with --json: a row for every type, not only for new and gone ones" },
	{ 0 },
};

static const struct example examples[] = {
	{ "diff before.culprit after.culprit", "which hop on which node made the difference" },
	{ "diff before.culprit after.culprit --by node --json", "the same by node, for a script" },
	{ 0 },
};

const struct question ask_diff = {
	.name = "diff",
	.summary =
		"compare two runs: what changed, and how much of the difference each hop explains",
	.nr_runs = 2,
	.options = options,
	.examples = examples,
	.run = run,
};
