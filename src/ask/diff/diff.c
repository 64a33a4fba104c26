#include "ask/diff/diff.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "ask/diff/changes.h"
#include "ask/variances.h"
#include "ask/length.h"
#include "ask/object_level.h"
#include "ask/selection.h"
#include "base/error.h"
#include "base/time.h"
#include "report/report.h"
#include "store/store.h"

#define ROWS_SHOWN 20
#define UNSURE 0.9 /* how sure what is known of calls may be without a word */
#define PLACES 0.1 /* what a node must explain beyond one of its hops to be worth a sentence */

enum {
	WHAT,
	TYPE,
	NODE,
	NAME,
	PATH,
	BEFORE,
	AFTER,
	DELTA,
	SHARE,
	CALLS_BEFORE,
	CALLS_AFTER,
	CONFIDENCE,
};

static const struct column columns[] = {
	[WHAT] = { "what", "what", CELL_TEXT, 0 },
	[TYPE] = { "type", "type", CELL_TEXT, COLUMN_WIDE },
	[NODE] = { "node", "node", CELL_TEXT, 0 },
	[NAME] = { "name", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[PATH] = { "path", "path", CELL_TEXT, COLUMN_WIDE },
	[BEFORE] = { "before", "before", CELL_DURATION, 0 },
	[AFTER] = { "after", "after", CELL_DURATION, 0 },
	[DELTA] = { "delta", "delta", CELL_DURATION, 0 },
	[SHARE] = { "share", "share", CELL_SHARE, 0 },
	[CALLS_BEFORE] = { "calls_before", NULL, CELL_NUMBER, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[CALLS_AFTER] = { "calls_after", NULL, CELL_NUMBER, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[CONFIDENCE] = { "confidence", NULL, CELL_NUMBER, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
};

static void add_change(const struct diff *d, const struct change *c, struct section *s)
{
	const struct hops *h = &d->contrast.hops;
	struct row *row = section_row(s);
	struct buf path = { 0 };
	bool hop = c->row && c->row->hop != HOP_NONE;

	row_text(s, row, WHAT,
		 c->mix   ? STR("mix")
		 : hop    ? STR("hop")
		 : c->row ? STR("node")
			  : STR("type"));
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
	if (c->row && c->row->spans[SIDE_BASE] + c->row->spans[SIDE_OTHER]) {
		row_double(s, row, CALLS_BEFORE, c->row->change.calls[SIDE_BASE]);
		row_double(s, row, CALLS_AFTER, c->row->change.calls[SIDE_OTHER]);
		row_double(s, row, CONFIDENCE, c->row->change.confidence);
	}
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

/* What a node explains in all its places. */
static double node_share(const struct diff *d, const struct change *top, size_t *places)
{
	double share = 0;

	*places = 0;
	vec_each (&d->changes, c)
		if (c->row && c->row->node == top->row->node && c->mix == top->mix &&
		    c->share >= CHANGES_MATTER) {
			share += c->share;
			(*places)++;
		}
	return share;
}

static void say_place(const struct diff *d, const struct change *top, struct buf *b)
{
	const struct hops *h = &d->contrast.hops;

	if (top->row && top->row->hop != HOP_NONE)
		buf_fmt(b, "in \"" STR_FMT "\" ", STR_ARG(hops_name(h, top->row->hop)));
	if (top->row && top->row->node)
		buf_fmt(b, "on " STR_FMT " ", STR_ARG(names_str(&h->names, top->row->node)));
	buf_fmt(b, "in requests of type " STR_FMT ": ", STR_ARG(names_str(&d->names, top->type)));
}

static void say_mix(const struct change *top, struct buf *b)
{
	const double *calls = top->row->change.calls;

	if (fabs(calls[SIDE_OTHER] - calls[SIDE_BASE]) < CHANGES_MATTER * calls[SIDE_BASE])
		buf_add(b, STR("it makes other calls than before, which take it longer or less "
			       "long."));
	else
		buf_fmt(b,
			"a request has %.3g such calls, %.3g before. The call itself is no part "
			"of this.",
			calls[SIDE_OTHER], calls[SIDE_BASE]);
}

/* A message tells when a call was sent, seen from where it was captured, not when it came. */
static void say_way(const struct diff *d, const struct change *top, struct buf *b)
{
	if (top->row && top->row->hop != HOP_NONE && d->contrast.sums.v[top->row->hop].message &&
	    top->row->node)
		buf_fmt(b, " That is " STR_FMT ", or the way to it.",
			STR_ARG(names_str(&d->contrast.hops.names, top->row->node)));
}

static void say_more(const struct diff *d, const struct change *top, struct buf *b)
{
	struct str node = STR("");
	double share = 0;
	size_t places = 0;

	if (top->row)
		node = names_str(&d->contrast.hops.names, top->row->node);
	if (node.n)
		share = node_share(d, top, &places);
	if (places > 1 && share > top->share + PLACES)
		buf_fmt(b, " On " STR_FMT " in %zu places together: %.0f %%.", STR_ARG(node),
			places, 100 * (share > 1 ? 1 : share));
	if (top->row && top->row->change.confidence < UNSURE)
		buf_fmt(b,
			" Which call belongs to which request is a guess here, right in %.0f of "
			"100 cases.",
			100 * top->row->change.confidence);
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
		/* what others undo explains more than all; that is said as all */
		buf_fmt(&b, "%.0f %% of the difference is ",
			100 * (top->share > 1 ? 1 : top->share));
		say_place(d, top, &b);
		if (top->mix) {
			say_mix(top, &b);
		} else {
			time_span_text(&b, length_of(top->before));
			buf_add(&b, STR(" before, "));
			time_span_text(&b, length_of(top->after));
			buf_add(&b, STR(" after."));
			say_way(d, top, &b);
		}
		say_more(d, top, &b);
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
	if (strcmp(text, "hop") && strcmp(text, "node") && strcmp(text, "type") &&
	    strcmp(text, "factor"))
		return error_set(err, EINVAL, "--by takes hop, node, type or factor, not '%s'",
				 text);
	*by = text[0];
	return 0;
}

/* A type that only one of the runs has is no reason to fail. */
static int read_filters(const struct args *args, struct store *const *runs,
			struct request_filter *filters, bool *asked, struct error *err)
{
	const char *type = args_get(args, "type");
	struct buf then = { 0 };
	int r = 1;

	for (int side = 0; side < SIDES && r >= 0; side++) {
		struct str wanted = str_of(type);

		if (side == SIDE_OTHER && selection_then(args, "type", &then))
			wanted = buf_str(&then);
		r = 1;
		if (wanted.n)
			r = store_find_type(runs[side], wanted, &filters[side].type, err);
		asked[side] = r > 0;
	}
	buf_done(&then);
	if (r < 0)
		return r;
	return asked[SIDE_BASE] || asked[SIDE_OTHER] ? 0 : -EINVAL;
}

static int run(struct store *const *runs, const struct args *args, struct report *report,
	       struct error *err)
{
	struct request_filter filters[SIDES] = { 0 };
	struct diff d = { 0 };
	bool people = args_for_people(args);
	char by;
	int r = object_level_check(args_get(args, "level"), err);

	if (r >= 0)
		r = read_by(args, &by, err);
	if (r >= 0)
		r = read_filters(args, runs, filters, d.asked, err);
	if (r < 0)
		return r;
	if (by == 'f')
		return variances_diff(runs, filters, people, report, err);
	r = changes_collect(&d, runs, filters, err);
	if (r >= 0) {
		changes_compare(&d, by);
		if (people) /* who reads on the screen wants the answer last, a script first */
			report_types(&d, false, true, report);
		report_changes(&d, people, report);
		if (!people)
			report_types(&d, args_has(args, "types"), false, report);
		say_it(&d, report);
		r = d.types[SIDE_BASE].nr_requests || d.types[SIDE_OTHER].nr_requests ? 0 : 1;
	}
	changes_done(&d);
	return r;
}

static const struct option options[] = {
	{ "by", "WHAT",
	  "split the difference by hop (default), node or type; or that of the variance, by "
	  "factor" },
	{ "type", "TYPE", "only this type of request" },
	{ "types", NULL, "with --json: a row for every type, not only for new and gone ones" },
	{ "then", "SELECTION",
	  "of the second run, where it differs: from=09:31,until=09:35,type=,node=,min=,max=; "
	  "a run may be given twice" },
	OBJECT_LEVEL_OPTION,
	{ 0 },
};

static const struct example examples[] = {
	{ "diff before.culprit after.culprit", "which hop on which node made the difference" },
	{ "diff before.culprit after.culprit --by node --json", "the same by node, for a script" },
	{ "diff run.culprit run.culprit --max 50ms --then min=50ms",
	  "two selections of one run: fast requests against slow ones" },
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
