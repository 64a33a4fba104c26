#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/error.h"
#include "query/parse.h"
#include "query/partial.h"
#include "query/run.h"

/* A query and its plan. */
struct asked {
	struct arena arena;
	struct queries q;
	struct plan plan;
	struct partial_shape shape;
};

static void ask(struct asked *a, const char *text)
{
	struct error err = { 0 };

	*a = (struct asked){ 0 };
	assert_int_equal(query_parse(str_of(text), &a->arena, &a->q, &err), 0);
	assert_int_equal(query_plan(&a->plan, &a->q, REWRITE_ALL, &a->arena, &err), 0);
	partial_shape_of(&a->shape, &a->plan);
}

static void asked_done(struct asked *a)
{
	query_plan_done(&a->plan);
	arena_done(&a->arena);
}

struct told {
	struct buf text;
	const struct names *names;
};

static int tell_row(void *ctx, const struct answer_cell *cells, size_t nr)
{
	struct told *t = ctx;

	for (size_t i = 0; i < nr; i++) {
		buf_add(&t->text, i ? STR(" ") : STR(""));
		if (!cells[i].buckets) {
			value_show(&t->text, cells[i].value, t->names);
			continue;
		}
		vec_each (&cells[i].buckets->v, b)
			buf_fmt(&t->text, "[%g,%g):%llu", b->from, b->to,
				(unsigned long long)b->nr);
	}
	buf_char(&t->text, '\n');
	return 0;
}

static void assert_answer(struct partial *p, const struct asked *a, const char *expected)
{
	struct told t = { .names = &p->names };
	struct answer answer = { &t, tell_row };
	struct error err = { 0 };

	assert_int_equal(partial_answer(p, &a->plan, &answer, &err), 0);
	buf_char(&t.text, 0);
	assert_string_equal(t.text.p, expected);
	buf_done(&t.text);
}

static struct value text_in(struct partial *p, const char *z)
{
	return value_text(names_add(&p->names, str_of(z)));
}

static void add(struct partial *p, const char *host, struct value delta)
{
	struct value key = text_in(p, host);
	size_t group = partial_group(p, &key, 1);

	for (size_t i = 0; i < p->shape.nr_cells; i++)
		partial_add(p, group, i, delta, 1);
}

static void what_select_says_is_made_of_groups_and_totals(void **state)
{
	struct partial p, q;
	struct error err;
	struct asked a;

	(void)state;
	ask(&a, "From e In T GroupBy e.host Select e.host, SUM(e.x) / COUNT(e.x), MIN(e.x), "
		"MAX(e.x) - MIN(e.x), PERCENTILE(e.x, 50), HISTOGRAM(e.x), AVERAGE(e.x)");
	partial_init(&p, &a.shape);
	partial_init(&q, &a.shape);
	add(&p, "b", value_int(4));
	add(&p, "a", value_int(1));
	text_in(&q, "unused");
	add(&q, "b", value_int(8));
	add(&q, "b", value_double(8.5));
	add(&q, "b", text_in(&q, "3"));
	add(&q, "c", VALUE_NONE);
	assert_int_equal(partial_merge(&p, &q, &err), 0);
	assert_answer(&p, &a,
		      "a 1 1 0 1 [1,2):1 1\n"
		      "b 5.875 3 5.5 4 [2,4):1[4,8):1[8,16):2 5.875\n"
		      "c null null null null  null\n");
	partial_done(&p);
	partial_done(&q);
	asked_done(&a);
}

static void rows_without_groups_come_as_often_as_they_were_seen(void **state)
{
	struct partial p;
	struct asked a;
	struct value row[2];

	(void)state;
	ask(&a, "From e In T Select e.x + 1, e.host");
	partial_init(&p, &a.shape);
	assert_int_equal(p.shape.nr_keys, 2);
	row[0] = value_int(7);
	row[1] = text_in(&p, "n1");
	partial_group(&p, row, 2);
	row[0] = value_int(5);
	partial_group(&p, row, 1);
	assert_answer(&p, &a, "5 n1\n7 n1\n7 n1\n");
	partial_done(&p);
	asked_done(&a);
}

static void what_does_not_fit_is_counted(void **state)
{
	struct partial p;
	struct asked a;

	(void)state;
	ask(&a, "From e In T GroupBy e.host Select e.host, SUM(e.x)");
	partial_init(&p, &a.shape);
	p.max_groups = 2;
	add(&p, "a", value_int(1));
	add(&p, "b", value_int(1));
	add(&p, "c", value_int(1));
	add(&p, "a", value_int(1));
	add(&p, "a", text_in(&p, "words"));
	add(&p, "b", value_double(NAN));
	assert_answer(&p, &a, "a 2\nb 1\n");
	assert_int_equal(p.losses.count[LOSS_ROWS_DROPPED], 1);
	assert_int_equal(p.losses.count[LOSS_VALUES_NO_NUMBER], 2);
	partial_done(&p);
	asked_done(&a);
}

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

/* The same rows into one partial, and into several that are put together in another order, after a
 * journey as bytes: equal to the last bit. */
static void scatter(const struct asked *a, uint64_t seed, bool is_wide)
{
	static const char *const hosts[] = { "alpha", "beta", "gamma", "delta", "" };
	struct partial one, parts[5], sum;
	struct buf x = { 0 }, y = { 0 };
	struct error err = { 0 };

	partial_init(&one, &a->shape);
	partial_init(&sum, &a->shape);
	for (int i = 0; i < 5; i++)
		partial_init(&parts[i], &a->shape);
	for (int i = 0; i < (is_wide ? 6000 : 200); i++) {
		const char *host = hosts[next(&seed) % 5];
		double d = ldexp((double)next(&seed), (int)(next(&seed) % 60) - 60);
		bool is_whole = next(&seed) % 3 == 0;
		struct value v = is_whole ? value_int((int64_t)next(&seed) - 99) : value_double(d);

		add(&one, host, v);
		add(&parts[next(&seed) % 5], host, v);
	}
	one.losses.count[LOSS_REPORTS_LATE] = parts[3].losses.count[LOSS_REPORTS_LATE] = 3;
	for (int i = 4; i >= 0; i--) {
		struct partial back;

		buf_clear(&x);
		partial_pack(&x, &parts[i]);
		assert_int_equal(partial_unpack(&back, buf_str(&x), &err), 0);
		assert_int_equal(partial_merge(&sum, &back, &err), 0);
		partial_done(&back);
		partial_done(&parts[i]);
	}
	buf_clear(&x);
	partial_pack(&x, &one);
	partial_pack(&y, &sum);
	assert_true(str_eq(buf_str(&x), buf_str(&y)));
	partial_done(&one);
	partial_done(&sum);
	buf_done(&x);
	buf_done(&y);
}

static void merging_does_not_depend_on_the_order(void **state)
{
	struct asked a;

	(void)state;
	ask(&a, "From e In T GroupBy e.host Select e.host, COUNT, SUM(e.x), MIN(e.x), MAX(e.x), "
		"AVERAGE(e.x), PERCENTILE(e.x, 99), HISTOGRAM(e.x)");
	for (uint64_t seed = 0; seed < 300; seed++)
		scatter(&a, seed, false);
	for (uint64_t seed = 0; seed < 8; seed++)
		scatter(&a, seed, true);
	asked_done(&a);
}

static void a_percentile_of_many_numbers_is_near_and_says_so(void **state)
{
	struct told t = { 0 };
	struct partial p;
	struct asked a;
	struct error err;
	double told;

	(void)state;
	ask(&a, "From e In T Select PERCENTILE(e.x, 90)");
	partial_init(&p, &a.shape);
	for (int i = 1; i <= 100000; i++)
		partial_add(&p, partial_group(&p, NULL, 1), 0, value_int(i), 1);
	t.names = &p.names;
	assert_int_equal(partial_answer(&p, &a.plan, &(struct answer){ &t, tell_row }, &err), 0);
	buf_char(&t.text, 0);
	told = atof(t.text.p);
	assert_true(fabs(told - 90000) < 90000 / 200.0);
	assert_int_equal(p.losses.count[LOSS_PERCENTILES_COARSE], 1);
	buf_done(&t.text);
	partial_done(&p);
	asked_done(&a);
}

static void put_piece(void *ctx, struct str bytes)
{
	struct partial *sum = ctx, piece;

	assert_true(bytes.n <= 2000);
	assert_int_equal(partial_unpack(&piece, bytes, NULL), 0);
	assert_int_equal(partial_merge(sum, &piece, NULL), 0);
	partial_done(&piece);
}

static void pieces_are_the_whole_when_put_together(void **state)
{
	struct buf x = { 0 }, y = { 0 };
	struct partial p, sum;
	char host[3000];
	struct asked a;

	(void)state;
	ask(&a, "From e In T GroupBy e.host Select e.host, SUM(e.x), PERCENTILE(e.x, 50)");
	partial_init(&p, &a.shape);
	partial_init(&sum, &a.shape);
	for (int i = 0; i < 1000; i++) {
		snprintf(host, sizeof(host), "host %d", i % 500);
		add(&p, host, value_int(i));
	}
	p.losses.count[LOSS_REPORTS_LATE] = 7;
	partial_pack_pieces(&p, 2000, put_piece, &sum);
	partial_pack(&x, &p);
	partial_pack(&y, &sum);
	assert_true(x.n > 10000 && str_eq(buf_str(&x), buf_str(&y)));
	/* what fits nowhere is counted */
	memset(host, 'x', sizeof(host) - 1);
	host[sizeof(host) - 1] = 0;
	add(&p, host, value_int(1));
	partial_reset(&sum);
	partial_pack_pieces(&p, 2000, put_piece, &sum);
	assert_int_equal(sum.groups.nr, 500);
	assert_int_equal(sum.losses.count[LOSS_ROWS_DROPPED], 1);
	assert_int_equal(sum.losses.count[LOSS_REPORTS_LATE], 7);
	buf_done(&x);
	buf_done(&y);
	partial_done(&p);
	partial_done(&sum);
	asked_done(&a);
}

static void results_of_other_queries_are_refused(void **state)
{
	struct partial p, q;
	struct error err;
	struct asked a, b;

	(void)state;
	ask(&a, "From e In T GroupBy e.host Select e.host, SUM(e.x)");
	ask(&b, "From e In T GroupBy e.host Select e.host, MAX(e.x)");
	partial_init(&p, &a.shape);
	partial_init(&q, &b.shape);
	assert_int_equal(partial_merge(&p, &q, &err), -EINVAL);
	assert_int_equal(partial_answer(&p, &b.plan, NULL, &err), -EINVAL);
	assert_true(partial_is_empty(&p));
	partial_done(&p);
	partial_done(&q);
	asked_done(&a);
	asked_done(&b);
}

static void half_a_message_is_refused(void **state)
{
	struct buf x = { 0 };
	struct partial p, q;
	struct error err;
	struct asked a;

	(void)state;
	ask(&a, "From e In T GroupBy e.host Select e.host, SUM(e.x), PERCENTILE(e.x, 50)");
	partial_init(&p, &a.shape);
	add(&p, "a", value_double(0.5));
	add(&p, "b", value_int(-3));
	partial_pack(&x, &p);
	for (size_t n = 0; n < x.n; n++) {
		assert_int_equal(partial_unpack(&q, str_head(buf_str(&x), n), &err), -EBADMSG);
		assert_true(partial_is_empty(&q));
		partial_done(&q);
	}
	buf_done(&x);
	partial_done(&p);
	asked_done(&a);
}

/* --- how exact percentiles are ---------------------------------------------------------------- */

#define VALUES 40000
#define AGENTS 8

struct exact {
	double percentiles[4];
	double sum;
	uint64_t nr;
};

static int take_exact(void *ctx, const struct answer_cell *cells, size_t nr)
{
	struct exact *e = ctx;

	assert_int_equal(nr, 5);
	for (size_t i = 0; i < 4; i++)
		e->percentiles[i] = value_as_double(cells[i].value);
	e->sum = cells[4].buckets->sum;
	vec_each (&cells[4].buckets->v, b)
		e->nr += b->nr;
	return 0;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Numbers that lie so many powers of two apart, told by several agents, as bytes. */
static void spread_over(unsigned powers, double error)
{
	static const double which[] = { 1, 50, 90, 99 };
	static double values[VALUES];
	struct partial agents[AGENTS], whole;
	struct exact got = { 0 };
	struct answer answer = { &got, take_exact };
	struct error err = { 0 };
	struct asked a;
	double sum = 0;

	ask(&a, "From e In T Select PERCENTILE(e.x, 1), PERCENTILE(e.x, 50), PERCENTILE(e.x, 90), "
		"PERCENTILE(e.x, 99), HISTOGRAM(e.x)");
	for (size_t i = 0; i < AGENTS; i++)
		partial_init(&agents[i], &a.shape);
	srand(powers);
	for (size_t i = 0; i < VALUES; i++) {
		struct partial *p = &agents[(unsigned)rand() % AGENTS];
		size_t group = partial_group(p, NULL, 1);

		values[i] = floor(exp2(10 + powers * ((double)rand() / ((double)RAND_MAX + 1))));
		sum += values[i];
		for (size_t k = 0; k < p->shape.nr_cells; k++)
			partial_add(p, group, k, value_int((int64_t)values[i]), 1);
	}
	partial_init(&whole, &a.shape);
	for (size_t i = 0; i < AGENTS; i++) {
		struct buf bytes = { 0 };
		struct partial came;

		partial_pack(&bytes, &agents[i]);
		assert_int_equal(partial_unpack(&came, buf_str(&bytes), &err), 0);
		assert_int_equal(partial_merge(&whole, &came, &err), 0);
		partial_done(&came);
		partial_done(&agents[i]);
		buf_done(&bytes);
	}
	assert_int_equal(partial_answer(&whole, &a.plan, &answer, &err), 0);
	qsort(values, VALUES, sizeof(*values), by_size);
	for (size_t i = 0; i < 4; i++) {
		double want = values[(size_t)ceil(which[i] / 100 * VALUES) - 1];

		if (fabs(got.percentiles[i] - want) > error * want)
			fail_msg("%u powers: %g is not %g", powers, got.percentiles[i], want);
	}
	assert_true(got.sum == sum && got.nr == VALUES);
	assert_int_equal(whole.losses.count[LOSS_PERCENTILES_COARSE], error > 0 ? 4 : 0);
	partial_done(&whole);
	asked_done(&a);
}

static void percentiles_are_as_exact_as_is_said(void **state)
{
	(void)state;
	spread_over(1, 0); /* the whole numbers from 1,024 to 2,047 */
	spread_over(4, 0.00196);
	spread_over(8, 0.00391);
	spread_over(16, 0.00782);
	spread_over(32, 0.01563);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_select_says_is_made_of_groups_and_totals),
		cmocka_unit_test(rows_without_groups_come_as_often_as_they_were_seen),
		cmocka_unit_test(what_does_not_fit_is_counted),
		cmocka_unit_test(merging_does_not_depend_on_the_order),
		cmocka_unit_test(a_percentile_of_many_numbers_is_near_and_says_so),
		cmocka_unit_test(pieces_are_the_whole_when_put_together),
		cmocka_unit_test(results_of_other_queries_are_refused),
		cmocka_unit_test(half_a_message_is_refused),
		cmocka_unit_test(percentiles_are_as_exact_as_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
