#include "ask/types.h"

#include <stdlib.h>

#include "ask/length.h"
#include "ask/stats.h"
#include "base/time.h"
#include "report/report.h"
#include "store/store.h"

#define SPARK_STEPS 12
#define NODES_NAMED 3
#define NODES_MOST 1000

void types_done(struct types *t)
{
	vec_each (&t->v, s)
		vec_done(&s->nodes);
	free(t->timings);
	free(t->in_turn);
	vec_done(&t->v);
	vec_done(&t->order);
	names_done(&t->names);
	names_done(&t->nodes);
}

uint32_t types_find(const struct types *t, struct str name)
{
	sym_t sym = names_find(&t->names, name);

	return sym < t->v.nr && t->v.v[sym].timings.nr && (sym || !name.n) ? sym : TYPE_NONE;
}

struct collecting {
	struct types *t;
	struct store *store;
	uint32_t *known; /* by type of the store: its number here + 1 */
	uint64_t nr;     /* that are in their places */
};

static sym_t type_of(struct collecting *c, uint32_t of_store)
{
	struct types *t = c->t;
	sym_t type;

	if (c->known[of_store])
		return c->known[of_store] - 1;
	type = names_add(&t->names, store_type(c->store, of_store));
	while (t->v.nr <= type)
		vec_push(&t->v, (struct type_stat){ 0 });
	c->known[of_store] = type + 1;
	return type;
}

static int count_request(void *ctx, const struct brief *r)
{
	struct collecting *c = ctx;
	sym_t type = type_of(c, r->type);

	c->t->v.v[type].timings.nr++;
	c->t->nr_requests++;
	return 0;
}

static int add_request(void *ctx, const struct brief *r)
{
	struct collecting *c = ctx;
	struct types *t = c->t;
	sym_t type = type_of(c, r->type);
	int64_t end = (int64_t)((uint64_t)r->start + (uint64_t)r->duration), ns;
	struct type_stat *s = &t->v.v[type];

	end = end > r->start ? end : r->start;
	ns = length_ns(r->start, end);
	s->timings.v[s->timings.nr++] =
		(struct timing){ r->start, ns, r->id, r->error, r->incomplete };
	t->in_turn[c->nr] = type;
	s->confidence += (double)r->confidence;
	s->total += (double)ns;
	s->errors += r->error;
	s->incomplete += r->incomplete;
	if (!c->nr || r->start < t->first)
		t->first = r->start;
	if (!c->nr || end > t->last)
		t->last = end;
	c->nr++;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct timing *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* As a store hands them over. */
static bool is_sorted(const struct timing *v, size_t nr)
{
	for (size_t i = 1; i < nr; i++)
		if (by_start(&v[i - 1], &v[i]) > 0)
			return false;
	return true;
}

static void summarize(struct type_stat *s, int64_t *scratch)
{
	size_t nr = s->timings.nr;

	if (!is_sorted(s->timings.v, nr))
		qsort(s->timings.v, nr, sizeof(*s->timings.v), by_start);
	for (size_t i = 0; i < nr; i++)
		scratch[i] = s->timings.v[i].duration;
	stats_sort(scratch, nr);
	s->p50 = stats_percentile(scratch, nr, 0.5);
	s->p90 = stats_percentile(scratch, nr, 0.9);
	s->p99 = stats_percentile(scratch, nr, 0.99);
	s->max = stats_percentile(scratch, nr, 1);
}

static int most_time_first(const void *a, const void *b, void *ctx)
{
	const struct types *t = ctx;
	const struct type_stat *x = &t->v.v[*(const uint32_t *)a],
			       *y = &t->v.v[*(const uint32_t *)b];

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	if (x->timings.nr != y->timings.nr)
		return x->timings.nr > y->timings.nr ? -1 : 1;
	return str_cmp(x->name, y->name);
}

/* Gives each type its stretch of one array, which is filled in the second pass. */
static void share_out(struct types *t)
{
	struct timing *at = mem_alloc(mem_bytes(t->nr_requests + 1, sizeof(*at)));

	t->timings = at;
	t->in_turn = mem_alloc(mem_bytes(t->nr_requests + 1, sizeof(*t->in_turn)));
	vec_each (&t->v, s) {
		s->timings.v = at;
		at += s->timings.nr;
		s->timings.nr = 0;
	}
}

const struct episode *types_episode(struct types *t, uint32_t type)
{
	struct type_stat *s = &t->v.v[type];
	struct arena scratch = { 0 };

	if (!s->is_searched)
		series_episode(s->timings.v, s->timings.nr, &scratch, &s->since);
	s->is_searched = true;
	arena_done(&scratch);
	return &s->since;
}

int64_t *types_starts(const struct types *t)
{
	int64_t *v = mem_alloc(mem_bytes(t->nr_requests + 1, sizeof(*v)));
	size_t *next = mem_zalloc(mem_bytes(t->v.nr + 1, sizeof(*next)));
	bool is_sorted = true;

	for (uint64_t i = 0; i < t->nr_requests; i++) {
		uint32_t type = t->in_turn[i];

		v[i] = t->v.v[type].timings.v[next[type]++].start;
		is_sorted &= !i || v[i - 1] <= v[i];
	}
	if (!is_sorted)
		stats_sort(v, t->nr_requests);
	free(next);
	return v;
}

int types_collect(struct types *t, struct store *s, const struct request_filter *f,
		  struct error *err)
{
	struct collecting c = { .t = t, .store = s };
	int64_t *scratch;
	int r;

	*t = (struct types){ 0 };
	c.known = mem_zalloc(mem_bytes((size_t)store_nr_types(s) + 1, sizeof(*c.known)));
	r = store_each_brief(s, f, count_request, &c, err);
	if (r >= 0) {
		share_out(t);
		r = store_each_brief(s, f, add_request, &c, err);
	}
	free(c.known);
	if (r < 0)
		return r;
	scratch = mem_alloc(mem_bytes(t->nr_requests + 1, sizeof(*scratch)));
	for (uint32_t i = 0; i < t->v.nr; i++) {
		t->v.v[i].name = names_str(&t->names, i);
		if (!t->v.v[i].timings.nr)
			continue;
		summarize(&t->v.v[i], scratch);
		vec_push(&t->order, i);
	}
	free(scratch);
	if (t->order.nr)
		qsort_r(t->order.v, t->order.nr, sizeof(*t->order.v), most_time_first, t);
	return 0;
}

void types_see(struct types *t, uint32_t type, const struct request_body *body)
{
	struct type_stat *s = &t->v.v[type];
	sym_t before = UINT32_MAX;

	for (size_t i = 0; i < body->nr_spans; i++) {
		sym_t node = names_add(&t->nodes, body->spans[i].node);
		size_t j = 0;

		if (!node || node == before)
			continue;
		before = node;
		while (j < s->nodes.nr && s->nodes.v[j] != node)
			j++;
		if (j == s->nodes.nr && j < NODES_MOST)
			vec_push(&s->nodes, node);
	}
}

static int see_request(void *ctx, const struct request *r, const struct request_body *body)
{
	struct types *t = ctx;
	uint32_t type = types_find(t, r->type);

	if (type != TYPE_NONE)
		types_see(t, type, body);
	return 0;
}

int types_see_all(struct types *t, struct store *s, const struct request_filter *f,
		  struct error *err)
{
	return store_each_body(s, f, see_request, t, err);
}

/* --- the table ------------------------------------------------------------------------------ */

enum {
	TYPE,
	COUNT,
	RATE,
	ERRORS,
	P50,
	P90,
	P99,
	MAX,
	NODES,
	NODES_TEXT,
	INCOMPLETE,
	CUT,
	SURE,
	SPARK
};

static const struct column type_columns[] = {
	[TYPE] = { "type", "type", CELL_TEXT, COLUMN_WIDE },
	[COUNT] = { "count", "count", CELL_COUNT, 0 },
	[RATE] = { "rate", "per s", CELL_NUMBER, 0 },
	[ERRORS] = { "errors", "errors", CELL_COUNT, 0 },
	[P50] = { "p50", "p50", CELL_DURATION, 0 },
	[P90] = { "p90", "p90", CELL_DURATION, 0 },
	[P99] = { "p99", "p99", CELL_DURATION, 0 },
	[MAX] = { "max", "max", CELL_DURATION, 0 },
	[NODES] = { "nodes", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	[NODES_TEXT] = { NULL, "nodes", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_WIDE },
	[INCOMPLETE] = { "incomplete", NULL, CELL_COUNT, COLUMN_JSON_ONLY },
	[CUT] = { NULL, "incomplete", CELL_COUNT, COLUMN_TEXT_ONLY }, /* only where some are */
	[SURE] = { NULL, "sure", CELL_SHARE, COLUMN_TEXT_ONLY },      /* only where it is not */
	[SPARK] = { NULL, "over time", CELL_SPARK, COLUMN_TEXT_ONLY },
};

static const struct column node_columns[] = { { "node", NULL, CELL_TEXT, 0 } };

static void row_nodes(const struct types *t, const struct type_stat *s, struct section *sec,
		      struct row *row)
{
	struct section *in = row_rows(sec, row, NODES, node_columns, 1);
	struct buf text = { 0 };

	for (size_t i = 0; i < s->nodes.nr; i++) {
		struct str node = names_str(&t->nodes, s->nodes.v[i]);

		row_text(in, section_row(in), 0, node);
		if (i < NODES_NAMED)
			buf_fmt(&text, "%s" STR_FMT, i ? " " : "", STR_ARG(node));
	}
	if (s->nodes.nr > NODES_NAMED)
		buf_fmt(&text, " +%zu", s->nodes.nr - NODES_NAMED);
	if (text.n)
		row_text(sec, row, NODES_TEXT, buf_str(&text));
	buf_done(&text);
}

static void row_of_type(const struct types *t, const struct type_stat *s, struct section *sec)
{
	struct row *row = section_row(sec);
	struct arena arena = { 0 };
	double whole = ((double)t->last - (double)t->first) / NS_S, spark[SPARK_STEPS + 3];
	struct series series;

	row_text(sec, row, TYPE, s->name);
	row_int(sec, row, COUNT, (int64_t)s->timings.nr);
	if (whole > 0)
		row_double(sec, row, RATE, (double)s->timings.nr / whole);
	row_int(sec, row, ERRORS, (int64_t)s->errors);
	row_int(sec, row, P50, s->p50);
	row_int(sec, row, P90, s->p90);
	row_int(sec, row, P99, s->p99);
	row_int(sec, row, MAX, s->max);
	row_nodes(t, s, sec, row);
	row_int(sec, row, INCOMPLETE, (int64_t)s->incomplete);
	if (s->incomplete)
		row_int(sec, row, CUT, (int64_t)s->incomplete);
	if (s->confidence < CONFIDENCE_LOW * (double)s->timings.nr)
		row_double(sec, row, SURE, s->confidence / (double)s->timings.nr);
	series_make(s->timings.v, s->timings.nr, t->first, t->last, SPARK_STEPS, &arena, &series);
	for (size_t i = 0; i < series.nr; i++)
		spark[i] = (double)series.v[i].p99;
	row_spark(sec, row, SPARK, spark, series.nr);
	arena_done(&arena);
}

struct section *types_report(const struct types *t, struct report *r, size_t at_most)
{
	struct section *sec = report_table(r, "types", "", type_columns,
					   sizeof(type_columns) / sizeof(*type_columns));

	for (size_t i = 0; i < t->order.nr && (!at_most || i < at_most); i++)
		row_of_type(t, &t->v.v[t->order.v[i]], sec);
	sec->nr_left_out = t->order.nr - sec->rows.nr;
	return sec;
}
