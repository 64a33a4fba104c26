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

/* --- calls in numbers ------------------------------------------------------------------------ */

/* A request of web, which works 2 ms before each call of db and 1 ms at the end. */
struct talk {
	int calls;
	int64_t db_ns; /* of each call */
	float sure;
	const char *type; /* or the usual one */
};

static void add_talk(struct store *s, int i, const struct talk *t)
{
	int64_t at = RUN_START + i * 100 * NS_MS;
	struct span spans[8] = { { .start = at,
				   .parent = SPAN_NONE,
				   .id = STR("0"),
				   .name = STR("client \xe2\x86\x92 web"),
				   .node = STR("web"),
				   .confidence = 1 } };
	struct request_body body = { .spans = spans, .nr_spans = 1 + (size_t)t->calls };
	struct request r = { .type = t->type ? str_of(t->type) : STR("client \xe2\x86\x92 web"),
			     .method = STR("paths"),
			     .start = at,
			     .nr_spans = 1 + (uint32_t)t->calls,
			     .confidence = t->sure };
	struct error err;

	for (int k = 1; k <= t->calls; k++) {
		at += 2 * NS_MS;
		spans[k] = (struct span){ .start = at,
					  .end = at + t->db_ns,
					  .parent = 0,
					  .id = STR("1"),
					  .name = STR("web \xe2\x86\x92 db"),
					  .node = STR("db"),
					  .confidence = t->sure };
		at += t->db_ns;
	}
	r.end = spans[0].end = at + NS_MS;
	assert_int_equal(store_add_request(s, &r, &body, &err), 0);
}

/* Of nr requests every one_in-th is such a talk, the others call nobody. */
static struct store *talks(int nr, int one_in, const struct talk *t)
{
	struct store *s = run_new();

	for (int i = 0; i < nr; i++)
		add_talk(s, i, i % one_in ? &(struct talk){ 0, 0, 1 } : t);
	run_finish(s);
	return s;
}

/* The first row of the difference; the sum of the shares of a kind goes to *share. */
static struct json_value first_of(struct json *j, struct store *a, struct store *b, struct buf *out,
				  const char *what, double *share)
{
	struct store *runs[] = { a, b };
	struct json_value v;
	struct str lines;
	int got;

	run_ask(runs, "diff", NULL, out, &got);
	assert_int_equal(got, 0);
	lines = buf_str(out);
	*share = 0;
	while (run_next(j, &lines, &v))
		if (str_eq(run_str(v, "what"), str_of(what)))
			*share += run_double(v, "share");
	lines = buf_str(out);
	assert_true(run_next(j, &lines, &v));
	store_close(a);
	store_close(b);
	return v;
}

static void a_delay_is_told_in_its_size_however_often_the_node_is_called(void **state)
{
	struct talk before = { 3, 5 * NS_MS, 1 }, after = { 3, 205 * NS_MS, 1 };
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	double share;

	(void)state;
	v = first_of(j, talks(200, 2, &before), talks(200, 2, &after), &out, "hop", &share);
	assert_str_equal(run_str(v, "what"), "hop");
	assert_str_equal(run_str(v, "node"), "db");
	assert_str_equal(run_str(v, "path"), "client \xe2\x86\x92 web \xe2\x86\x92 db");
	assert_int_equal(run_int(v, "before"), 5 * NS_MS);
	assert_int_equal(run_int(v, "delta"), 200 * NS_MS);
	assert_true(run_double(v, "share") > 0.999);
	assert_true(run_double(v, "calls_after") > 1.49 && run_double(v, "calls_after") < 1.51);
	assert_true(share > 0.999 && share < 1.001);
	buf_done(&out);
	json_free(j);
}

static void a_mix_that_changed_is_no_slower_hop(void **state)
{
	struct talk t = { 2, 50 * NS_MS, 1 };
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	double share;

	(void)state;
	/* a tenth of the requests call the database, then half of them */
	v = first_of(j, talks(500, 10, &t), talks(500, 2, &t), &out, "mix", &share);
	assert_str_equal(run_str(v, "what"), "mix");
	assert_str_equal(run_str(v, "node"), "db");
	assert_true(share > 0.99);
	assert_true(run_double(v, "calls_before") < 0.21 && run_double(v, "calls_after") > 0.99);
	buf_done(&out);
	json_free(j);
}

static void a_slower_hop_is_named_beside_a_mix_that_changed(void **state)
{
	struct talk before = { 2, 50 * NS_MS, 1 }, after = { 2, 250 * NS_MS, 1 };
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	double share;

	(void)state;
	v = first_of(j, talks(500, 2, &before), talks(500, 4, &after), &out, "mix", &share);
	assert_str_equal(run_str(v, "what"), "hop");
	assert_str_equal(run_str(v, "node"), "db");
	assert_int_equal(run_int(v, "delta"), 200 * NS_MS);
	assert_true(share < -0.1); /* fewer requests wait for it than before */
	buf_done(&out);
	json_free(j);
}

static void calls_that_are_a_guess_are_told_as_such(void **state)
{
	struct talk before = { 2, 5 * NS_MS, 0.5F }, after = { 2, 205 * NS_MS, 0.5F };
	struct json *j = json_new();
	struct buf out = { 0 };
	struct str lines;
	struct json_value v;
	double share, least = 1;

	(void)state;
	first_of(j, talks(100, 1, &before), talks(100, 1, &after), &out, "hop", &share);
	lines = buf_str(&out);
	while (run_next(j, &lines, &v))
		if (str_eq(run_str(v, "node"), STR("web")))
			least = run_double(v, "confidence");
	/* whether web made just these two calls: each is an even chance */
	assert_true(least > 0.249 && least < 0.251);
	buf_done(&out);
	json_free(j);
}

/* Which of its callers a call of db is for is a guess, and most calls became faster. */
static void nothing_takes_less_than_no_time(void **state)
{
	static const struct talk brief = { 1, NS_MS, 0.5F, "brief" };
	static const struct talk before = { 1, 40 * NS_MS, 0.5F, NULL };
	static const struct talk after = { 1, 4 * NS_MS, 0.5F, NULL };
	struct store *runs[] = { run_new(), run_new() };
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	struct str lines;
	int got, nr = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		add_talk(runs[0], i, i % 2 ? &brief : &before);
		add_talk(runs[1], i, i % 2 ? &brief : &after);
	}
	run_finish(runs[0]);
	run_finish(runs[1]);
	run_ask(runs, "diff", NULL, &out, &got);
	lines = buf_str(&out);
	for (; run_next(j, &lines, &v); nr++) {
		assert_true(run_int(v, "before") >= 0);
		assert_true(run_int(v, "after") >= 0);
	}
	assert_true(nr >= 4);
	store_close(runs[0]);
	store_close(runs[1]);
	buf_done(&out);
	json_free(j);
}

static void a_hop_that_was_not_there_before_is_named(void **state)
{
	struct talk before = { 0, 0, 1 }, after = { 1, 30 * NS_MS, 1 };
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	double share;

	(void)state;
	v = first_of(j, talks(100, 1, &before), talks(100, 1, &after), &out, "hop", &share);
	assert_str_equal(run_str(v, "what"), "hop");
	assert_str_equal(run_str(v, "node"), "db");
	assert_int_equal(run_int(v, "before"), 0);
	assert_int_equal(run_int(v, "after"), 30 * NS_MS);
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
		cmocka_unit_test(a_delay_is_told_in_its_size_however_often_the_node_is_called),
		cmocka_unit_test(a_mix_that_changed_is_no_slower_hop),
		cmocka_unit_test(a_slower_hop_is_named_beside_a_mix_that_changed),
		cmocka_unit_test(calls_that_are_a_guess_are_told_as_such),
		cmocka_unit_test(nothing_takes_less_than_no_time),
		cmocka_unit_test(a_hop_that_was_not_there_before_is_named),
	};

	return RUN(tests);
}
