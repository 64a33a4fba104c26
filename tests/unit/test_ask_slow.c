#include "unit.h"

#include <stdio.h>

#include "ask_run.h"

/* 1,000 orders; every fortieth meets a slow stock2. */
static struct store *slow_stock(void)
{
	struct store *s = run_new();
	struct dice dice = { 1 };

	for (int i = 0; i < 1000; i++) {
		struct order o = run_order(&dice, i);

		o.zone = "near";
		if (i % 40 == 3) {
			o.stock = "stock2";
			o.stock_ns += 90 * NS_MS + (int64_t)dice_below(&dice, NS_MS);
			o.auth_ns += 5 * NS_MS;
			o.zone = "far";
		}
		run_add(s, "order", &o);
	}
	run_finish(s);
	return s;
}

static void the_slow_hop_and_node_are_named_first_and_shares_add_up(void **state)
{
	struct store *s = slow_stock();
	struct json *j = json_new();
	struct buf out = { 0 };
	struct str lines;
	struct json_value v;
	double hops = 0, nodes = 0;
	bool first = true, far = false;
	int got;

	(void)state;
	ASK(s, "slow", &out, &got, );
	assert_int_equal(got, 0);
	lines = buf_str(&out);
	while (run_next(j, &lines, &v)) {
		struct str what = run_str(v, "what");

		if (first) {
			assert_str_equal(what, "hop");
			assert_str_equal(run_str(v, "type"), "order");
			assert_str_equal(run_str(v, "node"), "stock2");
			assert_true(run_double(v, "confidence") > 0.8);
			assert_str_equal(run_str(v, "path"), "web:GET > stock2:reserve");
			assert_true(run_double(v, "share") > 0.9);
			assert_true(run_double(v, "confidence") > 0.85);
			assert_true(run_int(v, "slow") > 90 * NS_MS);
			assert_int_equal(run_int(v, "requests"), 10);
			first = false;
		}
		if (str_eq(what, STR("hop")))
			hops += run_double(v, "share");
		if (str_eq(what, STR("node")))
			nodes += run_double(v, "share");
		if (str_eq(what, STR("attribute")) && str_eq(run_str(v, "name"), STR("zone")))
			far = true;
	}
	assert_true(hops > 0.999 && hops < 1.001);
	assert_true(nodes > 0.999 && nodes < 1.001);
	assert_true(far);
	buf_done(&out);
	json_free(j);
	store_close(s);
}

static void the_same_question_has_the_same_answer(void **state)
{
	struct store *s = slow_stock();
	struct buf a = { 0 }, b = { 0 };
	int got;

	(void)state;
	ASK(s, "slow", &a, &got, );
	ASK(s, "slow", &b, &got, );
	assert_true(str_eq(buf_str(&a), buf_str(&b)));
	ASK(s, "answer", &a, &got, );
	ASK(s, "answer", &b, &got, );
	assert_true(str_eq(buf_str(&a), buf_str(&b)));
	buf_done(&a);
	buf_done(&b);
	store_close(s);
}

static void even_requests_have_nothing_that_stands_out(void **state)
{
	struct store *s = run_new();
	struct dice dice = { 2 };
	struct buf out = { 0 };
	int got;

	(void)state;
	for (int i = 0; i < 300; i++) {
		struct order o = run_order(&dice, i);

		run_add(s, "order", &o);
	}
	run_finish(s);
	ASK(s, "slow", &out, &got, );
	assert_int_equal(got, 1);
	assert_int_equal(out.n, 0);
	ASK(s, "answer", &out, &got, );
	assert_int_equal(got, 0);
	assert_true(str_find(buf_str(&out), STR("Nothing stands out")) < out.n);
	buf_done(&out);
	store_close(s);
}

static void one_slow_request_among_few_is_thin_evidence(void **state)
{
	struct store *s = run_new();
	struct dice dice = { 3 };
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	struct str lines;
	int got;

	(void)state;
	for (int i = 0; i < 6; i++) {
		struct order o = run_order(&dice, i);

		if (i == 2)
			o.auth_ns = 80 * NS_MS;
		run_add(s, "order", &o);
	}
	run_finish(s);
	ASK(s, "slow", &out, &got, );
	lines = buf_str(&out);
	assert_true(run_next(j, &lines, &v));
	assert_str_equal(run_str(v, "name"), "check");
	assert_true(run_double(v, "confidence") <= 0.5);
	ASK(s, "answer", &out, &got, );
	assert_true(str_find(buf_str(&out), STR("thin evidence")) < out.n);
	buf_done(&out);
	json_free(j);
	store_close(s);
}

static void the_answer_names_type_hop_node_peers_time_and_command(void **state)
{
	struct store *s = run_new();
	struct dice dice = { 4 };
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	struct str lines, text = { 0 };
	int64_t began = 0;
	int got;

	(void)state;
	for (int i = 0; i < 900; i++) {
		struct order o = run_order(&dice, i);

		if (i >= 700 && str_eq(str_of(o.stock), STR("stock2")))
			o.stock_ns += 60 * NS_MS;
		run_add(s, "GET /order's", &o);
		o.i += 1;
		run_add(s, "ping", &o);
	}
	run_finish(s);
	ASK(s, "answer", &out, &got, "(run)", "my run", "type", "order's", );
	assert_int_equal(got, 0);
	lines = buf_str(&out);
	while (run_next(j, &lines, &v))
		if (str_eq(run_str(v, "section"), STR("why-slow"))) {
			text = run_str(v, "text");
			began = run_int(v, "began");
			assert_str_equal(run_str(v, "node"), "stock2");
			assert_true(run_double(v, "confidence") > 0.8);
			assert_str_equal(
				run_str(v, "command"),
				"culprit requests 'my run' --type 'GET /order'\\''s' --slowest 5");
			assert_true(str_find(text, STR("\"reserve\" on stock2")) < text.n);
			assert_true(str_find(text, STR("stock1")) < text.n);
			assert_true(str_find(text, STR("the same step in")) < text.n);
			assert_true(str_find(text, STR("It began at")) < text.n);
		}
	assert_true(text.n > 0);
	assert_true(llabs(began - (RUN_START + 7000 * NS_MS)) < 200 * NS_MS);
	buf_done(&out);
	json_free(j);
	store_close(s);
}

static void a_change_that_makes_the_median_slow_is_found_too(void **state)
{
	struct store *s = run_new();
	struct dice dice = { 8 };
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	struct str lines;
	bool told = false;
	int got;

	(void)state;
	for (int i = 0; i < 600; i++) {
		struct order o = run_order(&dice, i);

		o.auth_ns += i >= 150 ? 30 * NS_MS : 0;
		run_add(s, "order", &o);
	}
	run_finish(s);
	ASK(s, "answer", &out, &got, );
	lines = buf_str(&out);
	while (run_next(j, &lines, &v))
		if (str_eq(run_str(v, "section"), STR("why-slow"))) {
			told = true;
			assert_str_equal(run_str(v, "node"), "auth");
			assert_int_equal(run_int(v, "began"), RUN_START + 1500 * NS_MS);
			assert_true(run_int(v, "median") < 10 * NS_MS);
		}
	assert_true(told);
	buf_done(&out);
	json_free(j);
	store_close(s);
}

static void chance_is_not_taken_for_a_feature(void **state)
{
	static const char *const zones[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	struct store *s = run_new();
	struct dice dice = { 12 };
	struct buf out = { 0 };
	int got;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		struct order o = run_order(&dice, i);

		o.zone = zones[dice_below(&dice, 8)];
		o.auth_ns += dice_below(&dice, 20) ? 0 : 50 * NS_MS;
		run_add(s, "order", &o);
	}
	run_finish(s);
	ASK(s, "slow", &out, &got, );
	assert_int_equal(got, 0);
	assert_true(str_find(buf_str(&out), STR("zone")) == out.n);
	buf_done(&out);
	store_close(s);
}

static void an_empty_run_says_so(void **state)
{
	struct store *s = run_new();
	struct buf out = { 0 };
	int got;

	(void)state;
	run_finish(s);
	ASK(s, "answer", &out, &got, );
	assert_int_equal(got, 1);
	ASK(s, "slow", &out, &got, );
	assert_int_equal(got, 1);
	buf_done(&out);
	store_close(s);
}

static void a_share_must_be_a_share(void **state)
{
	struct store *s = slow_stock();
	struct buf out = { 0 };
	int got;

	(void)state;
	ASK(s, "slow", &out, &got, "slowest-share", "5%", );
	assert_int_equal(got, 0);
	ASK(s, "slow", &out, &got, "slowest-share", "half", );
	assert_true(got < 0);
	ASK(s, "slow", &out, &got, "slowest-share", "0", );
	assert_true(got < 0);
	ASK(s, "slow", &out, &got, "type", "nosuch", );
	assert_true(got < 0);
	buf_done(&out);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_slow_hop_and_node_are_named_first_and_shares_add_up),
		cmocka_unit_test(the_same_question_has_the_same_answer),
		cmocka_unit_test(even_requests_have_nothing_that_stands_out),
		cmocka_unit_test(one_slow_request_among_few_is_thin_evidence),
		cmocka_unit_test(the_answer_names_type_hop_node_peers_time_and_command),
		cmocka_unit_test(a_change_that_makes_the_median_slow_is_found_too),
		cmocka_unit_test(chance_is_not_taken_for_a_feature),
		cmocka_unit_test(an_empty_run_says_so),
		cmocka_unit_test(a_share_must_be_a_share),
	};

	return RUN(tests);
}
