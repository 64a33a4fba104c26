#include "unit.h"

#include <stdio.h>

#include "ask_run.h"

struct mix {
	int orders, pings, extra; /* extra: of a type that only this run has */
	const char *extra_type;
	int64_t stock_more, auth_more; /* stock: on stock2 only */
};

static struct store *make_run(const struct mix *m)
{
	struct store *s = run_new();
	struct dice dice = { 9 };

	for (int i = 0; i < m->orders + m->pings + m->extra; i++) {
		struct order o = run_order(&dice, i);

		if (str_eq(str_of(o.stock), STR("stock2")))
			o.stock_ns += m->stock_more;
		o.auth_ns += m->auth_more;
		run_add(s,
			i < m->orders              ? "order"
			: i < m->orders + m->pings ? "ping"
						   : m->extra_type,
			&o);
	}
	run_finish(s);
	return s;
}

static void compare(const struct mix *a, const struct mix *b, const char *by, struct buf *out,
		    int *got)
{
	struct store *runs[] = { make_run(a), make_run(b) };
	const char *given[] = { by ? "by" : NULL, by, NULL };

	run_ask(runs, "diff", given, out, got);
	store_close(runs[0]);
	store_close(runs[1]);
}

static void the_hop_that_became_slow_comes_first_and_shares_add_up(void **state)
{
	struct mix a = { .orders = 300, .pings = 100 };
	struct mix b = { .orders = 250, .pings = 150, .stock_more = 40 * NS_MS };
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	struct str lines;
	double sum = 0, before = 1e9;
	int got, nr = 0;

	(void)state;
	compare(&a, &b, NULL, &out, &got);
	assert_int_equal(got, 0);
	lines = buf_str(&out);
	while (run_next(j, &lines, &v)) {
		double share = run_double(v, "share");

		if (!nr++) {
			assert_str_equal(run_str(v, "what"), "hop");
			assert_str_equal(run_str(v, "node"), "stock2");
			assert_str_equal(run_str(v, "path"), "web:GET > stock2:reserve");
			assert_true(run_int(v, "delta") > 10 * NS_MS);
			assert_int_equal(run_int(v, "delta"),
					 run_int(v, "after") - run_int(v, "before"));
		}
		assert_true(share <= before);
		before = share;
		sum += share;
	}
	assert_true(sum > 0.999 && sum < 1.001);
	buf_done(&out);
	json_free(j);
}

static void by_node_and_by_type_add_up_too(void **state)
{
	struct mix a = { .orders = 200, .pings = 100 };
	struct mix b = { .orders = 200, .pings = 100, .auth_more = 3 * NS_MS };
	const char *const ways[] = { "node", "type" };
	struct json *j = json_new();
	struct buf out = { 0 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct json_value v;
		struct str lines;
		double sum = 0;
		int got;

		compare(&a, &b, ways[i], &out, &got);
		lines = buf_str(&out);
		while (run_next(j, &lines, &v)) {
			assert_str_equal(run_str(v, "what"), ways[i]);
			sum += run_double(v, "share");
		}
		assert_true(sum > 0.999 && sum < 1.001);
	}
	buf_done(&out);
	json_free(j);
}

static void new_and_gone_types_are_named_without_a_share(void **state)
{
	struct mix a = { .orders = 50, .extra = 20, .extra_type = "old" };
	struct mix b = { .orders = 50, .extra = 20, .extra_type = "fresh" };
	struct buf out = { 0 };
	int got;

	(void)state;
	compare(&a, &b, NULL, &out, &got);
	assert_true(str_find(buf_str(&out), STR("\"type\":\"old\",\"status\":\"gone\"")) < out.n);
	assert_true(str_find(buf_str(&out), STR("\"type\":\"fresh\",\"status\":\"new\"")) < out.n);
	buf_done(&out);
}

static void equal_runs_have_no_difference(void **state)
{
	struct mix a = { .orders = 50 };
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	struct str lines;
	int got;

	(void)state;
	compare(&a, &a, NULL, &out, &got);
	assert_int_equal(got, 0);
	lines = buf_str(&out);
	while (run_next(j, &lines, &v))
		assert_int_equal(run_int(v, "delta"), 0);
	compare(&a, &a, "colour", &out, &got);
	assert_true(got < 0);
	buf_done(&out);
	json_free(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_hop_that_became_slow_comes_first_and_shares_add_up),
		cmocka_unit_test(by_node_and_by_type_add_up_too),
		cmocka_unit_test(new_and_gone_types_are_named_without_a_share),
		cmocka_unit_test(equal_runs_have_no_difference),
	};

	return RUN(tests);
}
