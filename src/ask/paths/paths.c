#include "ask/paths/paths.h"

#include <errno.h>
#include <string.h>

#include "ask/length.h"
#include "ask/paths/fold.h"
#include "ask/paths/graph.h"
#include "ask/paths/instances.h"
#include "ask/when.h"
#include "base/error.h"
#include "base/time.h"
#include "report/report.h"
#include "store/store.h"

#define PATTERNS_SHOWN 10  /* as trees, to people */
#define INSTANCES_SHOWN 50 /* to people */
#define ROWS_SHOWN 40      /* of one tree, and of the graph */

enum { PATH, COUNT, MEAN, P50, P99, HOPS, TOTAL, SHARE, ERRORS, CONFIDENCE, MEMBERS };

static const struct column columns[] = {
	[PATH] = { "path", NULL, CELL_TEXT, 0 },
	[COUNT] = { "count", NULL, CELL_COUNT, 0 },
	[MEAN] = { "mean", NULL, CELL_DURATION, 0 },
	[P50] = { "p50", NULL, CELL_DURATION, 0 },
	[P99] = { "p99", NULL, CELL_DURATION, 0 },
	[HOPS] = { "hops", NULL, CELL_ROWS, 0 },
	[TOTAL] = { "total", NULL, CELL_DURATION, 0 },
	[SHARE] = { "share", NULL, CELL_SHARE, 0 },
	[ERRORS] = { "errors", NULL, CELL_COUNT, 0 },
	[CONFIDENCE] = { "confidence", NULL, CELL_SHARE, 0 },
	[MEMBERS] = { "patterns", NULL, CELL_COUNT, COLUMN_OPTIONAL },
};

enum {
	NODE,
	DEPTH,
	CALLS,
	HOP_MEAN,
	HOP_SELF,
	HOP_DELAY,
	HOP_P50,
	HOP_P99,
	SELF_P99,
	SPREAD,
	SELF_SPREAD,
	TIMES,
	REPLICAS,
	BAR
};

static const struct column hop_columns[] = {
	[NODE] = { "node", "node", CELL_TEXT, COLUMN_WIDE | COLUMN_INDENT },
	[DEPTH] = { "depth", NULL, CELL_COUNT, COLUMN_JSON_ONLY },
	[CALLS] = { "calls", "calls", CELL_COUNT, 0 },
	[HOP_MEAN] = { "mean", "mean", CELL_DURATION, 0 },
	[HOP_SELF] = { "self", "itself", CELL_DURATION, 0 },
	[HOP_DELAY] = { "delay", "after", CELL_DURATION, 0 },
	[HOP_P50] = { "p50", NULL, CELL_DURATION, COLUMN_JSON_ONLY },
	[HOP_P99] = { "p99", "p99", CELL_DURATION, 0 },
	[SELF_P99] = { "self_p99", NULL, CELL_DURATION, COLUMN_JSON_ONLY },
	[SPREAD] = { "spread", NULL, CELL_SPARK, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[SELF_SPREAD] = { "self_spread", NULL, CELL_SPARK, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[TIMES] = { "times", NULL, CELL_COUNT, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[REPLICAS] = { "replicas", NULL, CELL_ROWS, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[BAR] = { NULL, "", CELL_BAR, COLUMN_TEXT_ONLY },
};
#define NR_HOP_COLUMNS (sizeof(hop_columns) / sizeof(*hop_columns))

static const struct column replica_columns[] = {
	{ "node", "replica", CELL_TEXT, 0 },
	{ "count", "calls", CELL_COUNT, 0 },
	{ "mean", "mean", CELL_DURATION, 0 },
	{ "self", "itself", CELL_DURATION, 0 },
};

struct answer {
	struct patterns patterns;
	struct folds folds;
	struct report *report;
	uint64_t limit; /* 0: all */
	bool has_spread;
};

/* The percentiles that tell how calls of a hop are spread. */
static const double spread_at[] = { 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99 };
#define NR_SPREAD (sizeof(spread_at) / sizeof(*spread_at))

static int64_t mean_of(double sum, uint64_t nr)
{
	return length_of(nr ? sum / (double)nr : 0);
}

static void add_replicas(struct section *s, struct row *row, const struct names *names,
			 const struct fold_hop *h)
{
	struct section *in = row_rows(s, row, REPLICAS, replica_columns, 4);

	vec_each (&h->replicas, r) {
		struct row *one = section_row(in);

		row_text(in, one, 0, names_str(names, r->node));
		row_int(in, one, 1, (int64_t)r->nr);
		row_int(in, one, 2, mean_of(r->latency, r->nr));
		row_int(in, one, 3, mean_of(r->self, r->nr));
	}
}

static void add_spread(struct section *s, struct row *row, size_t column, const struct sketch *of)
{
	double v[NR_SPREAD];

	for (size_t i = 0; i < NR_SPREAD; i++)
		v[i] = (double)sketch_percentile(of, spread_at[i]);
	row_spark(s, row, column, v, NR_SPREAD);
}

static struct row *add_hop(struct section *s, const struct names *names, const struct fold_hop *h)
{
	struct row *row = section_row(s);

	row->depth = h->place.depth;
	row_text(s, row, NODE, h->name);
	row_int(s, row, DEPTH, h->place.depth);
	row_int(s, row, CALLS, (int64_t)h->stat.nr);
	row_int(s, row, HOP_MEAN, mean_of(h->stat.latency, h->stat.nr));
	row_int(s, row, HOP_SELF, mean_of(h->stat.self, h->stat.nr));
	row_int(s, row, HOP_DELAY, mean_of(h->stat.delay, h->stat.nr_delays));
	row_int(s, row, HOP_P50, sketch_percentile(&h->stat.latencies, 0.5));
	row_int(s, row, HOP_P99, sketch_percentile(&h->stat.latencies, 0.99));
	row_int(s, row, SELF_P99, sketch_percentile(&h->stat.selves, 0.99));
	if (h->place.times > 1)
		row_int(s, row, TIMES, h->place.times);
	if (h->replicas.nr > 1)
		add_replicas(s, row, names, h);
	return row;
}

static void add_hop_spread(const struct answer *a, struct section *s, const struct fold_hop *h)
{
	struct row *row = add_hop(s, &a->patterns.names, h);

	if (!a->has_spread)
		return;
	add_spread(s, row, SPREAD, &h->stat.latencies);
	add_spread(s, row, SELF_SPREAD, &h->stat.selves);
}

static void add_pattern(const struct answer *a, const struct fold *x, struct section *s)
{
	struct row *row = section_row(s);
	struct section *hops;

	row_text(s, row, PATH, x->path);
	row_int(s, row, COUNT, (int64_t)x->count);
	row_int(s, row, MEAN, mean_of(x->total, x->count));
	row_int(s, row, P50, sketch_percentile(&x->latencies, 0.5));
	row_int(s, row, P99, sketch_percentile(&x->latencies, 0.99));
	row_int(s, row, TOTAL, length_of(x->total));
	row_double(s, row, SHARE, a->patterns.total > 0 ? x->total / a->patterns.total : 0);
	row_int(s, row, ERRORS, (int64_t)x->errors);
	row_double(s, row, CONFIDENCE, x->confidence / (double)x->count);
	if (x->nr_members > 1)
		row_int(s, row, MEMBERS, x->nr_members);
	hops = row_rows(s, row, HOPS, hop_columns, NR_HOP_COLUMNS);
	for (size_t i = 0; i < x->nr_hops; i++)
		add_hop_spread(a, hops, &x->hops[i]);
}

static void add_for_scripts(const struct answer *a)
{
	struct section *s =
		report_table(a->report, "paths", "", columns, sizeof(columns) / sizeof(*columns));

	s->json_only = true;
	vec_each (&a->folds.v, x) {
		if (a->limit && (uint64_t)(x - a->folds.v.v) >= a->limit)
			break;
		add_pattern(a, x, s);
		report_spill(a->report, s);
	}
}

/* --- for people ------------------------------------------------------------------------------- */

/* When each hop begins within a mean request; callers stand before their calls. */
static void begin_of(const struct fold *x, double *begin)
{
	for (size_t i = 0; i < x->nr_hops; i++) {
		const struct fold_hop *h = &x->hops[i];
		double up = h->place.parent == SHAPE_NONE ? 0 : begin[h->place.parent];

		begin[i] = up + (double)mean_of(h->stat.delay, h->stat.nr_delays);
	}
}

static double within(double at)
{
	return at < 0 ? 0 : at > 1 ? 1 : at;
}

static size_t most_itself(const struct fold *x)
{
	size_t most = 0;

	for (size_t i = 1; i < x->nr_hops; i++)
		if (x->hops[i].stat.self > x->hops[most].stat.self)
			most = i;
	return most;
}

static void add_headline(const struct answer *a, const struct fold *x, size_t rank)
{
	struct section *s = report_section(a->report, SECTION_PROSE, "pattern", "");
	struct buf b = { 0 };

	s->text_only = true;
	buf_fmt(&b, "%zu. " STR_FMT "\n", rank, STR_ARG(x->path));
	buf_fmt(&b, "%llu request%s, ", (unsigned long long)x->count, x->count == 1 ? "" : "s");
	time_span_text(&b, length_of(x->total));
	buf_fmt(&b, " in all (%.3g %%), mean ",
		a->patterns.total > 0 ? 100 * x->total / a->patterns.total : 0);
	time_span_text(&b, mean_of(x->total, x->count));
	buf_add(&b, STR(", p50 "));
	time_span_text(&b, sketch_percentile(&x->latencies, 0.5));
	buf_add(&b, STR(", p99 "));
	time_span_text(&b, sketch_percentile(&x->latencies, 0.99));
	if (x->errors)
		buf_fmt(&b, ", %llu with errors", (unsigned long long)x->errors);
	if (x->nr_members > 1)
		buf_fmt(&b, "; %u patterns that differ in replicas or order only", x->nr_members);
	if (x->confidence < CONFIDENCE_LOW * (double)x->count)
		buf_fmt(&b, "; inferred, %.0f %% sure", 100 * x->confidence / (double)x->count);
	section_say(s, NULL, "%.*s", (int)b.n, b.p);
	buf_done(&b);
}

/* Which replica is slower than its brothers is seen here only. */
static void add_replica_rows(const struct answer *a, const struct fold *x)
{
	struct section *s = NULL;

	for (size_t i = 0; i < x->nr_hops; i++) {
		if (x->hops[i].replicas.nr < 2)
			continue;
		if (!s)
			s = report_table(a->report, "replicas", "", replica_columns, 4);
		s->text_only = true;
		vec_each (&x->hops[i].replicas, r) {
			struct row *row;

			if (s->rows.nr >= ROWS_SHOWN) {
				s->nr_left_out++;
				continue;
			}
			row = section_row(s);
			row_text(s, row, 0, names_str(&a->patterns.names, r->node));
			row_int(s, row, 1, (int64_t)r->nr);
			row_int(s, row, 2, mean_of(r->latency, r->nr));
			row_int(s, row, 3, mean_of(r->self, r->nr));
		}
	}
}

static void add_tree(const struct answer *a, const struct fold *x)
{
	struct section *s = report_table(a->report, "hops", "", hop_columns, NR_HOP_COLUMNS);
	double *begin = mem_alloc(mem_bytes(x->nr_hops + 1, sizeof(*begin)));
	double whole = (double)mean_of(x->total, x->count);
	size_t most = most_itself(x);

	s->text_only = true;
	begin_of(x, begin);
	for (size_t i = 0; i < x->nr_hops; i++) {
		double takes = (double)mean_of(x->hops[i].stat.latency, x->hops[i].stat.nr);
		struct row *row;

		if (i >= ROWS_SHOWN) {
			s->nr_left_out = x->nr_hops - i;
			break;
		}
		row = add_hop(s, &a->patterns.names, &x->hops[i]);
		row->strong = i == most;
		if (x->hops[i].place.times > 1)
			row_fmt(s, row, NODE, STR_FMT "*%u", STR_ARG(x->hops[i].name),
				x->hops[i].place.times);
		takes *= x->hops[i].place.times;
		if (whole > 0)
			row_bar(s, row, BAR, within(begin[i] / whole),
				within((begin[i] + takes) / whole), i == most ? 'c' : 'r');
	}
	free(begin);
}

static void add_for_people(const struct answer *a)
{
	size_t most = a->limit ? a->limit : PATTERNS_SHOWN, nr = a->folds.v.nr;

	for (size_t i = 0; i < nr && i < most; i++) {
		add_headline(a, &a->folds.v.v[i], i + 1);
		add_tree(a, &a->folds.v.v[i]);
		add_replica_rows(a, &a->folds.v.v[i]);
	}
	if (nr > most) {
		struct section *s = report_section(a->report, SECTION_PROSE, "more", "");
		double rest = 0;

		s->text_only = true;
		for (size_t i = most; i < nr; i++)
			rest += a->folds.v.v[i].total;
		section_say(s, NULL,
			    "%zu more patterns, with %.3g %% of the time: --limit %zu shows them.",
			    nr - most, a->patterns.total > 0 ? 100 * rest / a->patterns.total : 0,
			    nr);
	}
}

static int see_pattern(void *ctx, const struct request *r, const struct request_body *body)
{
	patterns_add(ctx, r, body);
	return 0;
}

static int answer_patterns(struct store *s, const struct args *args,
			   const struct request_filter *filter, struct report *report,
			   struct error *err)
{
	struct request_filter f = *filter;
	struct answer a = { .report = report,
			    .limit = f.limit,
			    .has_spread = args_has(args, "spread") };
	bool people = args_for_people(args);
	int r;

	f.limit = 0; /* it is of patterns, not of requests */
	r = store_each_body(s, &f, see_pattern, &a.patterns, err);
	if (r >= 0) {
		report->losses.count[LOSS_PATHS_RARE] += a.patterns.nr_rare;
		folds_make(&a.folds, &a.patterns, people || args_has(args, "fold"));
		if (people)
			add_for_people(&a);
		else
			add_for_scripts(&a);
		r = !a.folds.v.nr;
	}
	folds_done(&a.folds);
	patterns_done(&a.patterns);
	return r;
}

static int see_graph(void *ctx, const struct request *r, const struct request_body *body)
{
	graph_add(ctx, r, body);
	return 0;
}

static int answer_graph(struct store *s, const struct args *args,
			const struct request_filter *filter, struct report *report,
			struct error *err)
{
	struct request_filter f = *filter;
	struct graph g = { 0 };
	int r;

	f.limit = 0;
	r = store_each_body(s, &f, see_graph, &g, err);
	if (r >= 0) {
		size_t most = args_for_people(args) ? ROWS_SHOWN : 0;

		graph_report(&g, report, filter->limit ? filter->limit : most);
		r = !g.nodes.nr;
	}
	graph_done(&g);
	return r;
}

static int check_method(const struct args *args, struct error *err)
{
	static const char *const known[] = { "auto", "joint", "nesting", "convolution" };
	const char *given = args_get(args, "method");

	for (size_t i = 0; given && i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(given, known[i]))
			return 0;
	if (!given)
		return 0;
	return error_set(err, EINVAL,
			 "--method takes auto, joint, nesting or convolution, not '%s'", given);
}

static int run(struct store *const *runs, const struct args *args, struct report *report,
	       struct error *err)
{
	struct request_filter f = { 0 };
	uint64_t id = 0;
	int r = when_filter(args, runs[0], &f, err);

	if (r >= 0)
		r = check_method(args, err);
	if (r >= 0)
		r = args_uint(args, "limit", &f.limit, err);
	if (r >= 0)
		r = args_uint(args, "instance", &id, err);
	if (r < 0)
		return r;
	if (args_has(args, "instance"))
		return instances_one(runs[0], id, args_has(args, "alternatives"), report, err);
	if (args_has(args, "instances")) {
		if (!f.limit && args_for_people(args))
			f.limit = INSTANCES_SHOWN;
		return instances_all(runs[0], &f, args_has(args, "alternatives"), report, err);
	}
	if (args_has(args, "graph"))
		return answer_graph(runs[0], args, &f, report, err);
	return answer_patterns(runs[0], args, &f, report, err);
}

static const struct option options[] = {
	{ "instances", NULL, "the path of every request, call by call" },
	{ "instance", "N", "one of them, as a tree" },
	{ "alternatives", NULL,
	  "with --instance or --instances: for each call the other callers that were possible" },
	{ "graph", NULL, "all paths merged: nodes, who calls whom, how often, after how long" },
	{ "spread", NULL,
	  "with --json: percentiles 1, 5, 10, 25, 50, 75, 90, 95, 99 of the calls of each hop" },
	{ "fold", NULL,
	  "with --json: patterns that differ in replicas or order only are one; people see "
	  "them so" },
	{ "method", "METHOD",
	  "how messages become paths: auto (default), joint, nesting or convolution" },
	{ "type", "TYPE", "only this type, or the one type that has this in its name" },
	{ "from", "TIME", "only requests that start at this time or later" },
	{ "until", "TIME", "only requests that start before this time" },
	{ "limit", "N", "only the first N patterns, instances, or rows of the graph" },
	{ 0 },
};

static const struct example examples[] = {
	{ "paths run.culprit", "which nodes requests cross, and where the time goes" },
	{ "paths run.culprit --graph", "the whole system as one graph" },
	{ "paths run.culprit --instances --json", "every request, call by call" },
	{ "paths run.culprit --instance 7 --alternatives",
	  "one request, and which calls may belong to another" },
	{ "paths run.culprit --json --limit 3", "the three that take most time, for a script" },
	{ 0 },
};

const struct question ask_paths = {
	.name = "paths",
	.summary = "patterns of paths through the nodes, with the delay of every hop",
	.nr_runs = 1,
	.options = options,
	.examples = examples,
	.run = run,
};
