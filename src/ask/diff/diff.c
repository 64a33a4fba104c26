/*
 * Two runs on the mathematics of slow against normal: all requests of a type before against all of
 * it after. A type weighs as much as it is frequent (mean of its parts in both runs), so that the
 * differences of all hops add up to the difference that the mean request feels at equal traffic.
 * Types that only one run has, and changes of rate, are rows without a share.
 *
 * A hop is no slower because it is called more often, or because what it is called for needs more
 * calls: where the numbers of calls differ by more than chance, that part of the difference is a
 * row of its own, the mix. before and after of a hop are what one call takes itself, so that a
 * delay added on a node is seen in its size however often the node is called; the share is of the
 * time that requests wait for it.
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
#define MATTERS 0.02   /* of the sizes of all changes: a smaller part is not told apart */
#define UNSURE 0.9     /* how sure what is known of calls may be without a word */
#define PLACES 0.1     /* what a node must explain beyond one of its hops to be worth a sentence */
#define CANCELLED 0.05 /* the sum is so small a part of its parts that shares of it mean little */

struct change {
	uint32_t type;
	const struct contrast_row *row; /* NULL for a whole type */
	double before, after;
	double weighed; /* what the mean request feels of it: times the weight of the type */
	double mixed;   /* the part of it that is not time but the mix */
	bool mix;
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

/* A hop that came or went has no mix: it is what changed. */
static double mix_of(const struct contrast_row *row)
{
	const struct strata_change *c = &row->change;

	return c->mixed && c->calls[SIDE_BASE] > 0 && c->calls[SIDE_OTHER] > 0 ? c->mix : 0;
}

static void add_rows(struct diff *d, uint32_t type, double weight, const struct contrast_row *rows,
		     size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct contrast_row *row = &rows[i];
		/* time in no span has no calls */
		const double *took = row->spans[SIDE_BASE] + row->spans[SIDE_OTHER]
					     ? row->change.own
					     : row->mean;

		vec_push(&d->changes, (struct change){ .type = type,
						       .row = row,
						       .before = took[SIDE_BASE],
						       .after = took[SIDE_OTHER],
						       .weighed = weight * row->delta,
						       .mixed = weight * mix_of(row),
						       .place = i });
	}
}

/* A difference is as sure as both that it is between. */
static double sure_of(const struct contrast_row *row)
{
	return row->change.confidence * row->change.confidence;
}

/* Where it is unsure which call of a node made which further calls, times are mixed up among the
 * hops of the node, but not their mean: so far as a hop is unsure it is taken to have changed as
 * much as all calls of the node together. */
static void lean_on_nodes(struct diff *d)
{
	struct {
		double delta, calls;
	} *nodes = arena_alloc(&d->arena, mem_bytes(d->contrast.hops.names.nr + 1, sizeof(*nodes)));

	vec_each (&d->changes, c) {
		const struct contrast_row *row = c->row;
		double calls = (double)(row->spans[SIDE_BASE] + row->spans[SIDE_OTHER]);

		if (!row->spans[SIDE_BASE] || !row->spans[SIDE_OTHER])
			continue;
		nodes[row->node].delta += calls * (c->after - c->before);
		nodes[row->node].calls += calls;
	}
	vec_each (&d->changes, c) {
		const struct contrast_row *row = c->row;

		if (row->spans[SIDE_BASE] && row->spans[SIDE_OTHER])
			c->after += (1 - sure_of(row)) *
				    (nodes[row->node].delta / nodes[row->node].calls -
				     (c->after - c->before));
	}
}

/* What the calls of a request take before and after, if one takes the same; where it is not their
 * number that changed, the mean with the effect of the mix. */
static void set_mix_times(struct change *mix)
{
	const struct strata_change *c = &mix->row->change;
	double more = c->calls[SIDE_OTHER] - c->calls[SIDE_BASE];

	mix->before = mix->row->mean[SIDE_BASE];
	if (fabs(more) > MATTERS * c->calls[SIDE_BASE] && c->mix / more > 0)
		mix->before = c->calls[SIDE_BASE] * c->mix / more;
	mix->after = mix->before + c->mix;
}

/* Makes the mix a change of its own where it matters. */
static void part_the_mix(struct diff *d)
{
	size_t nr = d->changes.nr;
	double size = 0;

	vec_each (&d->changes, c)
		size += fabs(c->weighed - c->mixed) + fabs(c->mixed);
	for (size_t i = 0; i < nr; i++) {
		struct change mix = d->changes.v[i];

		if (fabs(mix.mixed) <= MATTERS * size)
			continue;
		d->changes.v[i].weighed -= mix.mixed;
		mix.weighed = mix.mixed;
		set_mix_times(&mix);
		mix.mix = true;
		vec_push(&d->changes, mix);
	}
}

static int largest_first(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	if (x->mix != y->mix)
		return x->mix ? 1 : -1;
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
	if (by == 'h')
		lean_on_nodes(d);
	part_the_mix(d);
	share_out(d);
}

/* --- the report ------------------------------------------------------------------------------ */

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
		    c->share >= MATTERS) {
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

	if (fabs(calls[SIDE_OTHER] - calls[SIDE_BASE]) < MATTERS * calls[SIDE_BASE])
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
