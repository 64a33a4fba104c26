/* Queries over random executions with branches and joins: as a nested loop over the closure of what
 * happened before answers them, with every rewrite rule and without each. */
#include "unit.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "query/parse.h"
#include "query/run.h"

#define EVENTS 14
#define SEEDS 10000
#define ROWS 400

struct world {
	size_t nr;
	int64_t ns[EVENTS];
	uint64_t at[EVENTS + 1];
	uint32_t before[EVENTS * 3];
	uint32_t past[EVENTS]; /* bits: the closure */
	char point[EVENTS];
	int x[EVENTS], g[EVENTS];
	struct names names;
	const struct plan *plan;
	VEC(struct str) rows;
	struct arena arena;
};

static uint32_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33);
}

static void make_world(struct world *w, uint64_t seed)
{
	uint64_t nr_edges = 0;

	w->nr = 3 + next(&seed) % (EVENTS - 2);
	for (uint32_t i = 0; i < w->nr; i++) {
		uint32_t causes = i ? next(&seed) % 3 : 0, last = EVENTS;

		w->ns[i] = 100 + i / 2;
		w->point[i] = (char)('A' + next(&seed) % 3);
		w->x[i] = (int)(next(&seed) % 7) - 2;
		w->g[i] = (int)(next(&seed) % 2);
		w->past[i] = 0;
		for (uint32_t k = 0; k < causes; k++) {
			uint32_t c = next(&seed) % i;

			if (c == last)
				continue;
			last = c;
			w->before[nr_edges++] = c;
			w->past[i] |= w->past[c] | 1u << c;
		}
		w->at[i + 1] = nr_edges;
	}
}

static uint64_t stages(void *ctx, uint32_t event)
{
	const struct world *w = ctx;
	uint64_t bits = 0;

	for (size_t i = 0; i < w->plan->stages.nr; i++)
		for (size_t k = 0; k < w->plan->stages.v[i].nr_points; k++)
			if (w->plan->stages.v[i].points[k].name.p[0] == w->point[event])
				bits |= (uint64_t)1 << i;
	return bits;
}

static void observe(void *ctx, uint32_t event, uint32_t stage, struct value *row)
{
	struct world *w = ctx;

	vec_each (&w->plan->stages.v[stage].observed, v) {
		struct str field = w->plan->variables.v[*v].field;

		row[*v] = str_eq(field, STR("x"))   ? value_int(w->x[event])
			  : str_eq(field, STR("n")) ? value_int(event)
			  : w->g[event]             ? value_text(names_add(&w->names, STR("one")))
						    : VALUE_NONE;
	}
}

static int keep_row(void *ctx, const struct answer_cell *cells, size_t nr)
{
	struct world *w = ctx;
	struct buf b = { 0 };

	for (size_t i = 0; i < nr; i++) {
		buf_char(&b, '|');
		value_show(&b, cells[i].value, &w->names);
		for (size_t k = 0; cells[i].buckets && k < cells[i].buckets->v.nr; k++)
			buf_fmt(&b, "[%g:%d]", cells[i].buckets->v.v[k].from,
				(int)cells[i].buckets->v.v[k].nr);
	}
	vec_push(&w->rows, arena_str(&w->arena, buf_str(&b)));
	buf_done(&b);
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* All rows, in one text that does not depend on their order. */
static struct str answer_text(struct world *w)
{
	struct buf b = { 0 };
	struct str text;

	if (w->rows.nr)
		qsort(w->rows.v, w->rows.nr, sizeof(*w->rows.v), by_text);
	vec_each (&w->rows, r)
		buf_fmt(&b, STR_FMT "\n", STR_ARG(*r));
	text = arena_str(&w->arena, buf_str(&b));
	buf_done(&b);
	w->rows.nr = 0;
	return text;
}

static struct str run_plan(struct world *w, const struct plan *p, struct run_counts *counts)
{
	struct observer_of_events events = { w, stages, observe };
	struct happened h = { w->nr, w->ns, w->at, w->before };
	struct answer to = { w, keep_row };
	struct error err = { 0 };
	struct order order;
	struct query_run q = { p, &h, &order, &events, &w->names, &to, counts };

	w->plan = p;
	order_make(&order, &h);
	assert_int_equal(query_run(&q, &err), 0);
	order_done(&order);
	return answer_text(w);
}

/* --- the nested loop ----------------------------------------------------------------------------
 */

struct rows {
	struct value v[ROWS][16];
	size_t nr;
};

static bool all_hold(struct world *w, const struct stage *s, const struct value *row)
{
	struct evaluation ev = { .row = row, .names = &w->names };

	vec_each (&s->late, e)
		if (!expr_holds(*e, &ev))
			return false;
	return true;
}

static void tuples_of(struct world *w, uint32_t stage, uint32_t event, struct rows *out);

/* The rows of one more child put beside each row so far. */
static void join_child(struct world *w, uint32_t child, uint32_t event, struct rows *rows)
{
	const struct stage *s = &w->plan->stages.v[child];
	struct rows *with = malloc(sizeof(*with)), *one = malloc(sizeof(*one));
	uint32_t taken = 0;

	with->nr = 0;
	for (uint32_t i = 0; i < w->nr; i++) {
		uint32_t e = s->take == TAKE_RECENT ? (uint32_t)w->nr - 1 - i : i;

		if (!(w->past[event] >> e & 1) || !(stages(w, e) >> child & 1))
			continue;
		if (s->take != TAKE_ALL && taken++ >= s->at_most)
			break;
		one->nr = 0;
		tuples_of(w, child, e, one);
		for (size_t a = 0; a < rows->nr; a++)
			for (size_t b = 0; b < one->nr; b++) {
				assert_true(with->nr < ROWS);
				for (size_t v = 0; v < w->plan->variables.nr; v++)
					with->v[with->nr][v] =
						plan_is_below(w->plan,
							      w->plan->variables.v[v].stage, child)
							? one->v[b][v]
							: rows->v[a][v];
				with->nr++;
			}
	}
	memcpy(rows->v, with->v, with->nr * sizeof(with->v[0]));
	rows->nr = with->nr;
	free(with);
	free(one);
}

static void tuples_of(struct world *w, uint32_t stage, uint32_t event, struct rows *out)
{
	const struct stage *s = &w->plan->stages.v[stage];
	size_t kept = 0;

	out->nr = 1;
	memset(out->v[0], 0, sizeof(out->v[0]));
	observe(w, event, stage, out->v[0]);
	vec_each (&s->children, c)
		join_child(w, *c, event, out);
	for (size_t i = 0; i < out->nr; i++)
		if (all_hold(w, s, out->v[i])) {
			struct evaluation ev = { .row = out->v[i], .names = &w->names };

			vec_each (&s->computed, c)
				out->v[i][*c] = expr_eval(w->plan->variables.v[*c].computed, &ev);
			memmove(out->v[kept++], out->v[i], sizeof(out->v[i]));
		}
	out->nr = kept;
}

struct made_group {
	struct str key;
	struct value row[16];
	struct total totals[8];
};

static void add_row_to_group(struct world *w, struct made_group *groups, size_t *nr,
			     const struct value *row)
{
	const struct output *o = &w->plan->output;
	struct evaluation ev = { .row = row, .names = &w->names };
	struct buf b = { 0 };
	size_t at = 0;

	vec_each (&o->keys, k) {
		value_show(&b, expr_eval(*k, &ev), &w->names);
		buf_char(&b, '|');
	}
	while (at < *nr && !str_eq(groups[at].key, buf_str(&b)))
		at++;
	if (at == *nr) {
		assert_true(++*nr < 256);
		memset(&groups[at], 0, sizeof(groups[at]));
		groups[at].key = arena_str(&w->arena, buf_str(&b));
		memcpy(groups[at].row, row, sizeof(groups[at].row));
	}
	for (size_t i = 0; i < o->aggregates.nr; i++) {
		const struct expr *a = o->aggregates.v[i];

		total_add(&groups[at].totals[i], a->function,
			  a->a ? expr_eval(a->a, &ev) : value_int(1), 1, &w->names);
	}
	buf_done(&b);
}

static void tell(struct world *w, const struct value *row, struct total *totals)
{
	const struct output *o = &w->plan->output;
	struct answer_cell cells[8] = { 0 };
	struct buckets buckets[8] = { 0 };
	struct value values[8];
	struct evaluation ev = { .row = row, .total = values, .names = &w->names };

	for (size_t i = 0; i < o->aggregates.nr; i++)
		values[i] = total_value(&totals[i], o->aggregates.v[i], &w->names);
	for (size_t i = 0; i < o->selects.nr; i++) {
		const struct expr *e = o->selects.v[i].expr;

		cells[i].value = expr_eval(e, &ev);
		if (e->kind == EXPR_AGGREGATE && e->function == AGGREGATE_HISTOGRAM) {
			total_buckets(&totals[e->number], &buckets[i], &w->names);
			cells[i].buckets = &buckets[i];
		}
	}
	keep_row(w, cells, o->selects.nr);
	for (size_t i = 0; i < 8; i++)
		vec_done(&buckets[i].v);
}

static struct str nested_loop(struct world *w, const struct plan *p)
{
	struct made_group *groups = calloc(256, sizeof(*groups));
	struct rows *rows = calloc(1, sizeof(*rows));
	size_t nr = 0;

	w->plan = p;
	for (uint32_t e = 0; e < w->nr; e++) {
		if (!(stages(w, e) & 1))
			continue;
		tuples_of(w, 0, e, rows);
		for (size_t i = 0; i < rows->nr; i++)
			if (p->output.is_aggregated)
				add_row_to_group(w, groups, &nr, rows->v[i]);
			else
				tell(w, rows->v[i], NULL);
	}
	for (size_t i = 0; i < nr; i++) {
		tell(w, groups[i].row, groups[i].totals);
		for (size_t k = 0; k < 8; k++)
			total_done(&groups[i].totals[k]);
	}
	free(rows);
	free(groups);
	return answer_text(w);
}

/* --- queries and the rule that each is for
 * --------------------------------------------------------- */

static const struct {
	const char *text;
	unsigned rule; /* 0: none makes it carry less */
} cases[] = {
	{ "From b In B Join a In A On a -> b Select b.n, a.x", 0 },
	{ "From b In B Join a In First(A) On a -> b Select b.n, a.n", 0 },
	{ "From b In B Join a In MostRecent(A) On a -> b Select b.n, a.n, b.x - a.x", 0 },
	{ "From b In B Join a In FirstN(2, A, C) On a -> b Select b.n, a.n", 0 },
	{ "From b In B Join a In MostRecentN(2, A) On a -> b Where a.x > 0 Select b.n, a.n", 0 },
	{ "From b In B Join a In A On a -> b Where a.x > b.x Select b.n", 0 },
	{ "From b In B Join a In A On a -> b Join c In C On c -> a Where c.x != b.x and a.g = "
	  "'one' "
	  "Select b.n, c.n",
	  REWRITE_PROJECT },
	{ "From b In B Join a In A On a -> b Where a.x > 1 Select b.n, a.n", REWRITE_SELECT_P },
	{ "From b In B Join a In A On a -> b Join c In C On c -> a Where a.x > 1 or c.x > 1 Select "
	  "b.n, a.n, c.n",
	  REWRITE_SELECT_P },
	{ "From b In B Join a In (From y In A Join c In C On c -> y Where y.x > 1 Select y.n, c.n "
	  "As "
	  "m) On a -> b Select b.n, a.n, a.m",
	  0 },
	{ "From b In B Join a In (From y In A Select y.x + 1 As x, y.n As m) On a -> b Where a.x > "
	  "1 Select b.n, a.m, a.x",
	  REWRITE_SELECT_P },
	{ "From b In B Join a In A On a -> b Select SUM(a.x), MIN(a.x), MAX(a.x), AVERAGE(a.x)",
	  REWRITE_A_P },
	{ "From b In B Join a In A On a -> b GroupBy a.g Select a.g, SUM(a.x), COUNT(a.g)",
	  REWRITE_GA_P },
	{ "From b In B Join a In A On a -> b GroupBy b.g Select b.g, SUM(b.x), COUNT",
	  REWRITE_GA_Q },
	{ "From b In B Join a In A On a -> b GroupBy a.g Select a.g, SUM(b.x), COUNT",
	  REWRITE_G_P_A_Q },
	{ "From b In B Join a In A On a -> b GroupBy b.g Select b.g, SUM(a.x)", REWRITE_G_Q_A_P },
	{ "From b In B Join a In A On a -> b Join c In C On c -> b GroupBy a.g Select a.g, "
	  "SUM(c.x), "
	  "SUM(a.x), SUM(b.x), SUM(a.x * c.x), COUNT",
	  0 },
	{ "From b In B Join a In A On a -> b Join c In C On c -> a GroupBy c.g Select c.g, "
	  "SUM(a.x), "
	  "SUM(c.x), MAX(b.x), COUNT, PERCENTILE(a.x, 50), HISTOGRAM(c.x + b.x)",
	  0 },
	{ "From b In B Join a In First(A) On a -> b Join c In C On c -> a GroupBy a.g Select a.g, "
	  "SUM(c.x), COUNT",
	  0 },
	{ "Q8: From r In C Join q In MostRecent(A) On q -> r Select r.n - q.n\n"
	  "Q9: From b In B Join l In Q8 On l -> b Select b.n, AVERAGE(l)",
	  0 },
	{ "From b In A, B Let d = b.x * 2 Join a In C On a -> b Where not d < 2 Select d + a.x, "
	  "a.g",
	  0 },
};
#define NR_CASES (sizeof(cases) / sizeof(*cases))

static void plan_case(struct plan *p, const char *text, unsigned rewrites, struct arena *arena)
{
	struct error err = { 0 };
	struct queries q;

	if (query_parse(str_of(text), arena, &q, &err) < 0 ||
	    query_plan(p, &q, rewrites, arena, &err) < 0)
		fail_msg("%s", err.msg);
}

static void every_rewrite_leaves_the_answer_as_it_is(void **state)
{
	static const unsigned sets[] = { 0,
					 REWRITE_ALL,
					 REWRITE_ALL & ~REWRITE_PROJECT,
					 REWRITE_ALL & ~REWRITE_SELECT_P,
					 REWRITE_ALL & ~REWRITE_SELECT_Q,
					 REWRITE_ALL & ~(REWRITE_A_P | REWRITE_GA_P),
					 REWRITE_PROJECT | REWRITE_GA_Q | REWRITE_G_P_A_Q,
					 REWRITE_G_Q_A_P | REWRITE_GA_P };
	enum { NR_SETS = sizeof(sets) / sizeof(*sets) };
	struct plan plans[NR_CASES][NR_SETS];
	struct arena arena = { 0 };
	struct world w = { 0 };
	uint64_t nr_told = 0;

	(void)state;
	for (size_t i = 0; i < NR_CASES; i++)
		for (size_t k = 0; k < NR_SETS; k++)
			plan_case(&plans[i][k], cases[i].text, sets[k], &arena);
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		size_t i = seed % NR_CASES;
		struct str want;

		make_world(&w, seed * 7919);
		want = nested_loop(&w, &plans[i][0]);
		nr_told += want.n > 0;
		for (size_t k = 0; k < NR_SETS; k++) {
			struct str got = run_plan(&w, &plans[i][k], NULL);

			if (!str_eq(got, want))
				fail_msg("seed %d, rewrites %u: %s\n" STR_FMT "is not\n" STR_FMT,
					 (int)seed, sets[k], cases[i].text, STR_ARG(got),
					 STR_ARG(want));
		}
		arena_reset(&w.arena);
	}
	assert_true(nr_told > SEEDS / 4);
	for (size_t i = 0; i < NR_CASES; i++)
		for (size_t k = 0; k < NR_SETS; k++)
			query_plan_done(&plans[i][k]);
	names_done(&w.names);
	vec_done(&w.rows);
	arena_done(&w.arena);
	arena_done(&arena);
}

/* Projection: fewer values; all others: fewer tuples. */
static void every_rewrite_has_less_packed(void **state)
{
	struct arena arena = { 0 };
	struct world w = { 0 };

	(void)state;
	for (size_t i = 0; i < NR_CASES; i++) {
		uint64_t with = 0, without = 0;
		struct plan on, off;

		if (!cases[i].rule)
			continue;
		plan_case(&on, cases[i].text, REWRITE_ALL, &arena);
		plan_case(&off, cases[i].text, REWRITE_ALL & ~cases[i].rule, &arena);
		for (uint64_t seed = 1; seed <= 200; seed++) {
			struct run_counts a[8] = { 0 }, b[8] = { 0 };

			make_world(&w, seed * 104729);
			run_plan(&w, &on, a);
			run_plan(&w, &off, b);
			for (size_t k = 1; k < on.stages.nr; k++) {
				bool values = cases[i].rule == REWRITE_PROJECT;

				with += values ? a[k].carried_values : a[k].carried;
				without += values ? b[k].carried_values : b[k].carried;
				if (!values)
					assert_true(a[k].carried <= b[k].carried);
			}
			arena_reset(&w.arena);
		}
		if (with >= without)
			fail_msg("%s: %d are not fewer than %d", cases[i].text, (int)with,
				 (int)without);
		query_plan_done(&on);
		query_plan_done(&off);
	}
	names_done(&w.names);
	vec_done(&w.rows);
	arena_done(&w.arena);
	arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_rewrite_leaves_the_answer_as_it_is),
		cmocka_unit_test(every_rewrite_has_less_packed),
	};

	return RUN(tests);
}
