#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ask/selection.h"
#include "ask_run.h"
#include "store/levels.h"

#define NR 2000

/* One of ten is ten times slower, and on a node of its own. */
static struct store *orders(void)
{
	struct store *s = run_new();
	struct dice dice = { 7 };

	for (int i = 0; i < NR; i++) {
		struct order o = run_order(&dice, i);

		if (i % 10 == 9) {
			o.stock = "cellar";
			o.stock_ns *= 10;
			o.error = i % 20 == 19;
		}
		run_add(s, i % 4 ? "order" : "look", &o);
	}
	run_finish(s);
	return s;
}

static int ask(struct store *const *runs, const char *question, const char *const *given,
	       struct buf *json)
{
	const char *values[64] = { NULL };
	struct option options[64] = { { 0 } };
	const struct question *q = NULL;
	struct report report;
	struct error err = { 0 };
	size_t nr = 0;
	int got;

	for (size_t i = 0; questions[i]; i++)
		if (!strcmp(questions[i]->name, question))
			q = questions[i];
	for (const struct option *o = q->options; o->name; o++)
		options[nr++] = *o;
	for (const struct option *o = selection_options; o->name; o++)
		options[nr++] = *o;
	options[nr] = (struct option){ "json", NULL, "" };
	values[nr] = "";
	for (; *given; given += 2)
		for (size_t i = 0; options[i].name; i++)
			if (!strcmp(options[i].name, *given))
				values[i] = given[1];
	report_init(&report);
	got = selection_ask(q, runs, &(struct args){ options, values, NULL }, &report, &err);
	buf_clear(json);
	if (got >= 0)
		report_write_json(&report, json);
	else
		buf_add(json, str_of(err.msg));
	buf_char(json, 0);
	json->n--;
	report_done(&report);
	return got;
}

#define PUT(s, question, json, ...) \
	ask((struct store *const[]){ s, s }, question, (const char *const[]){ __VA_ARGS__, NULL }, \
	    json)

static int64_t count_types(struct buf *json)
{
	struct json *j = json_new();
	struct json_value v;
	struct str lines = buf_str(json);
	int64_t nr = 0;

	while (run_next(j, &lines, &v))
		if (run_int(v, "count") > 0)
			nr += run_int(v, "count");
	json_free(j);
	return nr;
}

static void a_question_is_put_to_what_is_selected(void **state)
{
	struct store *s = orders();
	struct buf json = { 0 };
	char from[32], until[32];

	(void)state;
	assert_int_equal(PUT(s, "requests", &json, "types", ""), 0);
	assert_int_equal(count_types(&json), NR);
	assert_int_equal(PUT(s, "requests", &json, "types", "", "node", "cellar"), 0);
	assert_int_equal(count_types(&json), NR / 10);
	assert_int_equal(PUT(s, "requests", &json, "types", "", "min", "30ms"), 0);
	assert_int_equal(count_types(&json), NR / 10);
	assert_int_equal(PUT(s, "requests", &json, "types", "", "max", "30000000", "type", "look"),
			 0);
	assert_int_equal(count_types(&json), NR / 4);
	snprintf(from, sizeof(from), "%lld", (long long)RUN_START);
	snprintf(until, sizeof(until), "%lld", (long long)(RUN_START + 10 * NS_S));
	assert_int_equal(PUT(s, "requests", &json, "types", "", "from", from, "until", until), 0);
	assert_int_equal(count_types(&json), NR / 2);
	/* nothing of it is left for the next */
	assert_int_equal(PUT(s, "requests", &json, "types", ""), 0);
	assert_int_equal(count_types(&json), NR);
	buf_done(&json);
	store_close(s);
}

static void what_cannot_be_selected_is_told(void **state)
{
	struct store *s = orders();
	struct buf json = { 0 };

	(void)state;
	assert_int_equal(PUT(s, "slow", &json, "min", "1h"), 1);
	assert_non_null(strstr(json.p, "Nothing is selected"));
	assert_true(PUT(s, "slow", &json, "min", "long") < 0);
	assert_non_null(strstr(json.p, "--min takes a duration"));
	assert_true(PUT(s, "slow", &json, "node", "attic") < 0);
	assert_non_null(strstr(json.p, "no nodes match 'attic'"));
	assert_true(PUT(s, "diff", &json, "then", "when=3") < 0);
	assert_non_null(strstr(json.p, "--then takes"));
	/* one request is found all the same */
	assert_int_equal(PUT(s, "requests", &json, "min", "1h", "request", "3"), 0);
	buf_done(&json);
	store_close(s);
}

static void two_selections_of_one_run_are_compared(void **state)
{
	struct store *one = orders(), *same = orders();
	struct buf json = { 0 };
	struct json *j = json_new();
	struct json_value v;
	struct str lines;

	(void)state;
	assert_int_equal(ask((struct store *const[]){ one, same }, "diff",
			     (const char *const[]){ "max", "30ms", "type", "order", "then",
						    "node=cellar,min=30ms", NULL },
			     &json),
			 0);
	lines = buf_str(&json);
	assert_true(run_next(j, &lines, &v));
	assert_str_equal(run_str(v, "node"), "cellar");
	assert_true(run_int(v, "delta") > 40 * NS_MS);
	/* the second is of any type: one of them is new */
	assert_int_equal(ask((struct store *const[]){ one, same }, "diff",
			     (const char *const[]){ "type", "order", "then", "type=,node=", NULL },
			     &json),
			 0);
	assert_non_null(strstr(json.p, "\"type\":\"look\",\"status\":\"new\""));
	json_free(j);
	buf_done(&json);
	store_close(one);
	store_close(same);
}

static void a_value_may_hold_commas(void **state)
{
	const struct option options[] = { { "then", "S", "" }, { 0 } };
	const char *values[] = { "type=a, b,min=3ms,node=" };
	struct args args = { options, values, NULL };
	struct buf value = { 0 };

	(void)state;
	assert_true(selection_then(&args, "type", &value));
	assert_str_equal(buf_str(&value), "a, b");
	buf_clear(&value);
	assert_true(selection_then(&args, "min", &value));
	assert_str_equal(buf_str(&value), "3ms");
	buf_clear(&value);
	assert_true(selection_then(&args, "node", &value)); /* named: taken away */
	assert_int_equal(value.n, 0);
	assert_false(selection_then(&args, "max", &value));
	buf_done(&value);
}

static void a_value_may_hold_what_looks_like_a_part(void **state)
{
	const struct option options[] = { { "then", "S", "" }, { 0 } };
	static const struct {
		const char *text, *type, *node;
	} cases[] = {
		{ "type=a\\,node=b,node=c", "a,node=b", "c" },
		{ "type=a\\\\,node=c", "a\\", "c" },
		{ "type=a\\\\\\,node=b,node=c", "a\\,node=b", "c" },
		{ "type=a\\b\\,c,node=", "a\\b\\,c", "" },
		{ "type=\\,max=\\,max=,node=c\\", ",max=,max=", "c\\" },
	};
	struct buf value = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *values[] = { cases[i].text };
		struct args args = { options, values, NULL };

		buf_clear(&value);
		assert_true(selection_then(&args, "type", &value));
		assert_str_equal(buf_str(&value), cases[i].type);
		buf_clear(&value);
		assert_true(selection_then(&args, "node", &value));
		assert_str_equal(buf_str(&value), cases[i].node);
	}
	buf_done(&value);
}

static void a_node_that_one_run_lacks_is_told_and_the_other_is_shown(void **state)
{
	struct store *one = orders(), *other = run_new();
	struct store *const runs[] = { one, other };
	struct dice dice = { 7 };
	struct buf json = { 0 };

	(void)state;
	for (int i = 0; i < 50; i++) {
		struct order o = run_order(&dice, i);

		run_add(other, "order", &o);
	}
	run_finish(other);
	assert_int_equal(ask(runs, "diff", (const char *const[]){ "node", "cellar", NULL }, &json),
			 0);
	assert_non_null(strstr(json.p, "The second run has nothing of this node"));
	assert_non_null(strstr(json.p, "\"type\":\"order\",\"status\":\"gone\""));
	/* a name that neither has is a mistake */
	assert_true(ask(runs, "diff", (const char *const[]){ "node", "attic", NULL }, &json) < 0);
	assert_non_null(strstr(json.p, "no nodes match 'attic'"));
	buf_done(&json);
	store_close(one);
	store_close(other);
}

static void the_heat_map_counts_every_request_once(void **state)
{
	struct store *s = orders();
	struct buf json = { 0 };
	struct json *j = json_new();
	struct json_value v;
	struct str lines;
	int64_t count = 0, errors = 0, columns, width;

	(void)state;
	assert_int_equal(PUT(s, "requests", &json, "heat", "", "columns", "50", "rows", "20"), 0);
	lines = buf_str(&json);
	assert_true(run_next(j, &lines, &v));
	assert_int_equal(run_int(v, "count"), NR);
	columns = run_int(v, "columns");
	width = run_int(v, "width");
	assert_in_range(columns, 30, 51);
	assert_true(run_int(v, "from") <= RUN_START && run_int(v, "from") > RUN_START - width);
	while (run_next(j, &lines, &v)) {
		if (run_int(v, "count") < 0)
			continue;
		assert_in_range(run_int(v, "column"), 0, columns - 1);
		assert_in_range(run_int(v, "row"), 0, 19);
		count += run_int(v, "count");
		errors += run_int(v, "errors") > 0 ? run_int(v, "errors") : 0;
	}
	assert_int_equal(count, NR);
	assert_int_equal(errors, NR / 20);
	json_free(j);
	buf_done(&json);
	store_close(s);
}

static void bins_of_latency_have_no_gaps(void **state)
{
	(void)state;
	for (unsigned bin = 0; bin < 240; bin++) {
		int64_t from = level_bin_from(bin), until = level_bin_from(bin + 1);

		assert_true(from < until);
		assert_int_equal(level_bin(from), bin);
		assert_int_equal(level_bin(until - 1), bin);
	}
	assert_int_equal(level_bin(-5), 0);
	assert_true(level_bin(INT64_MAX) < LEVEL_BINS);
}

/* One request of thousands takes a second: a scatter of forty points has to show it. */
static void points_keep_the_peak(void **state)
{
	struct store *s = run_new();
	struct dice dice = { 3 };
	struct buf json = { 0 };
	size_t nr = 0;

	(void)state;
	for (int i = 0; i < NR; i++) {
		struct order o = run_order(&dice, i);

		o.tail_ns = i == 777 ? NS_S : 0;
		run_add(s, "order", &o);
	}
	run_finish(s);
	assert_int_equal(PUT(s, "requests", &json, "points", "40"), 0);
	for (const char *at = json.p; (at = strstr(at, "\"section\":\"points\"")); at++)
		nr++;
	assert_in_range(nr, 30, 40);
	assert_non_null(strstr(json.p, "\"id\":778,"));
	assert_int_equal(PUT(s, "requests", &json, "points", "3000"), 0);
	assert_non_null(strstr(json.p, "\"id\":1,"));
	assert_non_null(strstr(json.p, "\"id\":2000,"));
	buf_done(&json);
	store_close(s);
}

static void a_request_is_compared_with_the_median_of_its_type(void **state)
{
	struct store *s = orders();
	struct buf json = { 0 };
	struct json *j = json_new();
	struct json_value v;
	struct str lines;
	int64_t delta = 0, took = 0, median = 0;

	(void)state;
	assert_int_equal(PUT(s, "requests", &json, "request", "10", "compare", ""), 0);
	lines = buf_str(&json);
	assert_true(run_next(j, &lines, &v));
	took = run_int(v, "duration");
	assert_true(run_next(j, &lines, &v));
	assert_str_equal(run_str(v, "section"), "median");
	assert_int_equal(run_int(v, "count"), NR * 3 / 4);
	median = run_int(v, "duration");
	assert_true(median < 10 * NS_MS);
	while (run_next(j, &lines, &v))
		if (str_eq(run_str(v, "section"), STR("compare")))
			delta += run_int(v, "delta");
	assert_int_equal(delta, took - median);
	json_free(j);
	buf_done(&json);
	store_close(s);
}

static void a_request_is_compared_with_one_that_is_named(void **state)
{
	struct store *s = orders();
	struct buf json = { 0 };
	struct json *j = json_new();
	struct json_value v;
	struct str lines;
	int64_t delta = 0, took = 0, other = 0;

	(void)state;
	assert_int_equal(PUT(s, "requests", &json, "request", "10", "compare", "", "beside", "11"),
			 0);
	lines = buf_str(&json);
	assert_true(run_next(j, &lines, &v));
	took = run_int(v, "duration");
	assert_true(run_next(j, &lines, &v));
	assert_str_equal(run_str(v, "section"), "beside");
	assert_int_equal(run_int(v, "id"), 11);
	other = run_int(v, "duration");
	while (run_next(j, &lines, &v))
		if (str_eq(run_str(v, "section"), STR("compare")))
			delta += run_int(v, "delta");
	assert_int_equal(delta, took - other);
	assert_int_equal(
		PUT(s, "requests", &json, "request", "10", "compare", "", "beside", "99999"),
		-ENOENT);
	assert_int_equal(PUT(s, "requests", &json, "request", "10", "beside", "11"), -EINVAL);
	json_free(j);
	buf_done(&json);
	store_close(s);
}

static void a_tree_has_what_a_picture_needs(void **state)
{
	struct store *s = orders();
	struct buf json = { 0 };

	(void)state;
	assert_int_equal(PUT(s, "requests", &json, "request", "1"), 0);
	assert_non_null(strstr(json.p, "\"index\":2,\"above\":0,\"end\":"));
	assert_non_null(strstr(json.p, "{\"section\":\"critical\",\"index\":0,\"kind\":\"run\""));
	buf_done(&json);
	store_close(s);
}

static void a_sample_is_told(void **state)
{
	struct store *s = orders();
	struct buf json = { 0 };

	(void)state;
	assert_int_equal(PUT(s, "paths", &json, "sample", "200"), 0);
	assert_non_null(strstr(json.p, "\"requests_sampled\":"));
	assert_int_equal(PUT(s, "paths", &json, "sample", "5000"), 0);
	assert_null(strstr(json.p, "\"requests_sampled\":"));
	buf_done(&json);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_question_is_put_to_what_is_selected),
		cmocka_unit_test(what_cannot_be_selected_is_told),
		cmocka_unit_test(two_selections_of_one_run_are_compared),
		cmocka_unit_test(a_value_may_hold_commas),
		cmocka_unit_test(a_value_may_hold_what_looks_like_a_part),
		cmocka_unit_test(a_node_that_one_run_lacks_is_told_and_the_other_is_shown),
		cmocka_unit_test(the_heat_map_counts_every_request_once),
		cmocka_unit_test(bins_of_latency_have_no_gaps),
		cmocka_unit_test(points_keep_the_peak),
		cmocka_unit_test(a_request_is_compared_with_the_median_of_its_type),
		cmocka_unit_test(a_request_is_compared_with_one_that_is_named),
		cmocka_unit_test(a_tree_has_what_a_picture_needs),
		cmocka_unit_test(a_sample_is_told),
	};

	return RUN(tests);
}
