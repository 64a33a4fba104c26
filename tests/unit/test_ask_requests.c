#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "ask/when.h"
#include "ask_run.h"

static struct store *orders(int nr)
{
	struct store *s = run_new();
	struct dice dice = { 6 };

	for (int i = 0; i < nr; i++) {
		struct order o = run_order(&dice, i);

		o.error = i == 4;
		o.tail_ns = i == 7 ? 70 * NS_MS : 0;
		run_add(s, i % 3 ? "order" : "cart", &o);
	}
	run_finish(s);
	return s;
}

static void scripts_get_every_request_in_order_of_id(void **state)
{
	struct store *s = orders(60);
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	struct str lines;
	int got, id = 0;

	(void)state;
	ASK(s, "requests", &out, &got, );
	assert_int_equal(got, 0);
	lines = buf_str(&out);
	while (run_next(j, &lines, &v)) {
		bool error = false;

		assert_int_equal(run_int(v, "id"), ++id);
		assert_int_equal(run_int(v, "duration"), run_int(v, "end") - run_int(v, "start"));
		assert_int_equal(json_count(json_get(v, STR("nodes"))), 3);
		assert_int_equal(run_str(v, "sequence").n, 16);
		assert_int_equal(run_int(v, "spans"), 3);
		json_bool(json_get(v, STR("errors")), &error);
		assert_int_equal(error, id == 5);
	}
	assert_int_equal(id, 60);
	buf_done(&out);
	json_free(j);
	store_close(s);
}

static void the_slowest_come_slowest_first(void **state)
{
	struct store *s = orders(60);
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	struct str lines;
	int got, nr = 0;
	int64_t before = INT64_MAX;

	(void)state;
	ASK(s, "requests", &out, &got, "slowest", "4", "type", "order", );
	lines = buf_str(&out);
	while (run_next(j, &lines, &v)) {
		if (!nr++)
			assert_int_equal(run_int(v, "id"), 8);
		assert_true(run_int(v, "duration") <= before);
		assert_str_equal(run_str(v, "type"), "order");
		before = run_int(v, "duration");
	}
	assert_int_equal(nr, 4);
	buf_done(&out);
	json_free(j);
	store_close(s);
}

static void types_have_counts_percentiles_and_nodes(void **state)
{
	struct store *s = orders(60);
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	struct str lines;
	int got;

	(void)state;
	ASK(s, "requests", &out, &got, "types", "", );
	lines = buf_str(&out);
	assert_true(run_next(j, &lines, &v));
	assert_str_equal(run_str(v, "type"), "order");
	assert_int_equal(run_int(v, "count"), 40);
	assert_int_equal(run_int(v, "errors"), 1);
	assert_true(run_int(v, "max") > 70 * NS_MS && run_int(v, "p50") < 10 * NS_MS);
	assert_int_equal(json_count(json_get(v, STR("nodes"))), 5);
	assert_true(run_next(j, &lines, &v));
	assert_int_equal(run_int(v, "count"), 20);
	assert_false(run_next(j, &lines, &v));
	buf_done(&out);
	json_free(j);
	store_close(s);
}

static void critical_paths_cover_each_request(void **state)
{
	struct store *s = orders(20);
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	struct str lines;
	int got, nr = 0;

	(void)state;
	ASK(s, "requests", &out, &got, "critical-path", "", );
	lines = buf_str(&out);
	while (run_next(j, &lines, &v)) {
		int64_t at = 0;

		assert_int_equal(run_int(v, "request"), ++nr);
		for (struct json_walk w = json_walk(json_get(v, STR("sections"))); json_next(&w);) {
			assert_true(!at || run_int(w.value, "start") == at);
			at = run_int(w.value, "end");
			assert_str_equal(run_str(w.value, "kind"), "run");
			assert_true(run_str(w.value, "span").n == 2);
		}
		assert_true(at > 0);
	}
	assert_int_equal(nr, 20);
	ASK(s, "requests", &out, &got, "critical-path", "", "request", "order-4", );
	assert_true(str_find(buf_str(&out), STR("{\"request\":5,\"sections\":[{\"span\":\"s1\"")) ==
		    0);
	ASK(s, "requests", &out, &got, "critical-path", "", "sum", "", "type", "cart", );
	assert_true(str_find(buf_str(&out), STR("\"share\":")) < out.n);
	buf_done(&out);
	json_free(j);
	store_close(s);
}

static void a_request_is_found_by_number_and_by_name(void **state)
{
	struct store *s = orders(20);
	struct buf a = { 0 }, b = { 0 };
	int got;

	(void)state;
	ASK(s, "requests", &a, &got, "request", "5", );
	assert_int_equal(got, 0);
	ASK(s, "requests", &b, &got, "request", "order-4", );
	assert_int_equal(got, 0);
	assert_true(str_eq(buf_str(&a), buf_str(&b)));
	assert_true(str_find(buf_str(&a), STR("\"what\":\"span\"")) < a.n);
	ASK(s, "requests", &a, &got, "request", "nosuch", );
	assert_true(got < 0);
	assert_true(str_find(buf_str(&a), STR("no request 'nosuch'")) < a.n);
	buf_done(&a);
	buf_done(&b);
	store_close(s);
}

static void over_time_counts_each_request_once(void **state)
{
	struct store *s = orders(100);
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	struct str lines;
	int64_t count = 0, nodes = 0;
	int got;

	(void)state;
	ASK(s, "requests", &out, &got, "over-time", "", "steps", "10", );
	lines = buf_str(&out);
	while (run_next(j, &lines, &v)) {
		if (!run_str(v, "section").n)
			count += run_int(v, "count");
		if (str_eq(run_str(v, "section"), STR("nodes")) &&
		    str_eq(run_str(v, "node"), STR("auth"))) {
			nodes += run_int(v, "requests");
			assert_true(run_int(v, "mean") >= NS_MS && run_int(v, "mean") < 2 * NS_MS);
		}
	}
	assert_int_equal(count, 100);
	assert_int_equal(nodes, 100);
	buf_done(&out);
	json_free(j);
	store_close(s);
}

static void times_limit_what_is_asked(void **state)
{
	struct store *s = orders(100);
	struct buf out = { 0 };
	struct str lines, line;
	int got, nr = 0;

	(void)state;
	ASK(s, "requests", &out, &got, "from", "1700000000.2", "until", "1700000000.3", );
	lines = buf_str(&out);
	while (str_take_line(&lines, &line))
		nr++;
	assert_int_equal(nr, 10);
	ASK(s, "requests", &out, &got, "from", "yesterday", );
	assert_true(got < 0);
	ASK(s, "requests", &out, &got, "steps", "0", );
	assert_true(got < 0);
	ASK(s, "requests", &out, &got, "limit", "many", );
	assert_true(got < 0);
	buf_done(&out);
	store_close(s);
}

/* Times that no clock shows, spans without names, requests without spans: every question answers.
 */
static void odd_requests_break_no_question(void **state)
{
	struct store *s = run_new();
	struct span odd[] = {
		{ .start = INT64_MIN + 1, .end = INT64_MAX - 1, .parent = SPAN_NONE },
		{ .start = RUN_START, .end = RUN_START - 5, .parent = 0 },
	};
	struct request_body body = { .spans = odd, .nr_spans = 2 }, none = { 0 };
	struct request r = { .type = STR("odd"), .start = odd[0].start, .end = odd[0].end };
	struct request flat = { .type = STR("odd"), .start = RUN_START, .end = RUN_START + 7 };
	struct error err;
	struct buf out = { 0 };
	int got;

	(void)state;
	assert_int_equal(store_add_request(s, &r, &body, &err), 0);
	assert_int_equal(store_add_request(s, &flat, &none, &err), 0);
	run_finish(s);
	ASK(s, "requests", &out, &got, );
	assert_int_equal(got, 0);
	ASK(s, "requests", &out, &got, "critical-path", "", );
	assert_int_equal(got, 0);
	ASK(s, "requests", &out, &got, "over-time", "", );
	assert_int_equal(got, 0);
	ASK(s, "requests", &out, &got, "request", "1", );
	assert_int_equal(got, 0);
	ASK(s, "slow", &out, &got, );
	assert_int_equal(got, 0);
	ASK(s, "answer", &out, &got, );
	assert_int_equal(got, 0);
	run_ask((struct store *const[]){ s, s }, "diff", NULL, &out, &got);
	assert_int_equal(got, 0);
	buf_done(&out);
	store_close(s);
}

static void moments_are_read_as_people_write_them(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} good[] = {
		{ "2023-11-14T22:13:20Z", 1700000000LL * NS_S },
		{ "2023-11-14 22:13:20.25", 1700000000LL * NS_S + 250 * NS_MS },
		{ "2023-11-15T00:13:20+02:00", 1700000000LL * NS_S },
		{ "2023-11-14", 1699920000LL * NS_S },
		{ "22:13", 1699999980LL * NS_S },
		{ "1700000000", 1700000000LL * NS_S },
		{ "1700000000000", 1700000000LL * NS_S },
		{ "1700000000000000001", 1700000000LL * NS_S + 1 },
	};
	static const char *const bad[] = {
		"", "noon", "2023-13-01", "25:00", "22:13 o'clock", "-5"
	};

	(void)state;
	setenv("TZ", "UTC", 1);
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct error err = { 0 };
		int64_t ns = 0;

		assert_int_equal(when_parse(good[i].text, RUN_START, &ns, &err), 0);
		assert_int_equal(ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct error err = { 0 };
		int64_t ns = 7;

		assert_true(when_parse(bad[i], RUN_START, &ns, &err) < 0);
		assert_int_equal(ns, 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scripts_get_every_request_in_order_of_id),
		cmocka_unit_test(the_slowest_come_slowest_first),
		cmocka_unit_test(types_have_counts_percentiles_and_nodes),
		cmocka_unit_test(critical_paths_cover_each_request),
		cmocka_unit_test(a_request_is_found_by_number_and_by_name),
		cmocka_unit_test(over_time_counts_each_request_once),
		cmocka_unit_test(times_limit_what_is_asked),
		cmocka_unit_test(odd_requests_break_no_question),
		cmocka_unit_test(moments_are_read_as_people_write_them),
	};

	return RUN(tests);
}
