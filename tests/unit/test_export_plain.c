#include "unit.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/json.h"
#include "export/base64.h"
#include "export/chrome.h"
#include "export/csv.h"
#include "export/dot.h"
#include "export/export.h"
#include "export/folded.h"
#include "export/ids.h"
#include "export/otlp.h"
#include "model/attr.h"

static struct span calls[] = {
	{ .start = 0,
	  .end = 100000,
	  .parent = SPAN_NONE,
	  .name = STR("GET;/"),
	  .node = STR("web") },
	{ .start = 10000, .end = 50000, .parent = 0, .name = STR("q"), .node = STR("db") },
	/* overlaps the first child, and sticks out of its parent */
	{ .start = 40000, .end = 120000, .parent = 0, .name = STR("q"), .node = STR("db") },
	{ .start = 20000, .end = 20400, .parent = 1, .name = STR("tiny"), .node = STR("db") },
};

static struct request call = { .id = 1, .start = 0, .end = 120000 };
static struct request_body body = { .spans = calls, .nr_spans = 4 };

static void folded_self_time_is_what_no_child_covers(void **state)
{
	struct folded_state f = { 0 };
	struct arena a = { 0 };
	struct buf out = { 0 };
	struct fed x;

	(void)state;
	fed_init(&x, &call, &body, NULL, &a);
	folded_request(&f, &x, &out);
	folded_request(&f, &x, &out);
	folded_end(&f, &out);
	/* 100 - (50-10) - (100-50) = 10 us, twice; 400 ns twice are 1 us */
	assert_str_equal(buf_str(&out), "web: GET:/ 20\n"
					"web: GET:/;db: q 239\n"
					"web: GET:/;db: q;db: tiny 1\n");
	folded_done(&f);
	buf_done(&out);
	arena_done(&a);
}

static void a_request_of_great_depth_folds_in_bounded_space(void **state)
{
	enum { DEEP = 3000 };
	struct request r = { .start = 0, .end = 1000000 * (int64_t)DEEP };
	struct request_body b = { .nr_spans = DEEP };
	struct folded_state f = { 0 };
	struct arena a = { 0 };
	struct buf out = { 0 };
	struct fed x;

	(void)state;
	b.spans = arena_array(&a, struct span, DEEP);
	for (int i = 0; i < DEEP; i++)
		b.spans[i] = (struct span){ .start = i * 1000,
					    .end = r.end - i * 1000,
					    .name = STR("f"),
					    .parent = i ? (uint32_t)i - 1 : SPAN_NONE };
	fed_init(&x, &r, &b, NULL, &a);
	folded_request(&f, &x, &out);
	assert_true(f.paths.nr <= 257);
	folded_done(&f);
	buf_done(&out);
	arena_done(&a);
}

static void dot_shows_who_calls_whom(void **state)
{
	struct dot_state d = { 0 };
	struct arena a = { 0 };
	struct buf out = { 0 };
	struct fed x;

	(void)state;
	calls[2].status = STATUS_ERROR;
	fed_init(&x, &call, &body, NULL, &a);
	dot_request(&d, &x, &out);
	dot_end(&d, &out);
	calls[2].status = STATUS_UNSET;
	assert_true(str_find(buf_str(&out), STR("n1 [label=\"web\\n1 spans\"]")) < out.n);
	assert_true(str_find(buf_str(&out), STR("n2 [label=\"db\\n3 spans, 1 errors\"")) < out.n);
	assert_true(str_find(buf_str(&out),
			     STR("n1 -> n2 [label=\"2 × 60 us\\n1 errors\", penwidth=5.00")) <
		    out.n);
	dot_done(&d);
	buf_done(&out);
	arena_done(&a);
}

static void csv_quotes_as_the_standard_says(void **state)
{
	struct request r = { .id = 7,
			     .type = STR("a,\"b\"\nc"),
			     .key = STR("k"),
			     .method = STR("named"),
			     .start = 1544712660300000123,
			     .end = 1544712660300000456,
			     .nr_spans = 2,
			     .error = true,
			     .confidence = 1 };
	struct buf out = { 0 };

	(void)state;
	csv_request(&r, &out);
	assert_str_equal(buf_str(&out),
			 "7,\"a,\"\"b\"\"\nc\",k,named,2018-12-13T14:51:00.300000123Z,"
			 "1544712660300000123,1544712660300000456,333,2,0,true,false,1\r\n");
	buf_done(&out);
}

static void no_name_becomes_a_formula(void **state)
{
	struct request r = { .type = STR("=1+1"), .key = STR("-2, or so"), .method = STR("a=b") };
	struct buf out = { 0 };

	(void)state;
	csv_request(&r, &out);
	assert_int_equal(str_find(buf_str(&out), STR("0,'=1+1,\"'-2, or so\",a=b,")), 0);
	buf_done(&out);
}

static void base64_pads(void **state)
{
	struct buf out = { 0 };

	(void)state;
	base64_add(&out, STR("M"));
	buf_char(&out, ' ');
	base64_add(&out, STR("Ma"));
	buf_char(&out, ' ');
	base64_add(&out, STR("Man\xff\xfe\xfd"));
	assert_str_equal(buf_str(&out), "TQ== TWE= TWFu//79");
	buf_done(&out);
}

static void ids_are_filled_up_or_hashed_but_never_cut(void **state)
{
	struct arena a = { 0 };
	struct str one = ids_hex(&a, STR("request-1"), 32);

	(void)state;
	assert_str_equal(ids_hex(&a, STR("abc"), 16), "0000000000000abc");
	assert_int_equal(one.n, 32);
	assert_false(str_eq(one, ids_hex(&a, STR("request-2"), 32)));
	assert_true(str_eq(one, ids_hex(&a, STR("request-1"), 32)));
	/* of OTLP's length already, but for a span too long */
	assert_int_equal(ids_hex(&a, STR("0123456789abcdef0123456789abcdef"), 16).n, 16);
	arena_done(&a);
}

static struct json_value parse(struct json *j, const struct buf *b)
{
	struct json_value root = { 0 };
	struct error err = { 0 };

	if (json_parse(j, buf_str(b), false, &root, &err))
		fail_msg("%s", err.msg);
	return root;
}

static void hostile_attributes_still_make_json(void **state)
{
	struct buf attrs = { 0 }, out = { 0 };
	struct span s = calls[0];
	struct request_body b = { .spans = &s, .nr_spans = 1 };
	struct json *parser = json_new(), *check = json_new();
	struct chrome_state chrome = { 0 };
	struct arena a = { 0 };
	struct fed x;

	(void)state;
	/* not JSON, and deeper than the writer can go */
	attr_add(&attrs,
		 &(struct attr){ .type = ATTR_JSON, .key = STR("bad"), .text = STR("[1,{") });
	attr_add(&attrs, &(struct attr){ .type = ATTR_JSON,
					 .key = STR("deep"),
					 .text = STR("[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]"
						     "]]]") });
	attr_add(&attrs,
		 &(struct attr){ .type = ATTR_DOUBLE, .key = STR("nan"), .d = __builtin_nan("") });
	attr_add_str(&attrs, STR("\x01\"\xff"), STR("\\\0\n"));
	s.attrs = buf_str(&attrs);
	fed_init(&x, &call, &b, NULL, &a);
	otlp_request(parser, &x, &out);
	assert_int_equal(json_count(json_get(parse(check, &out), STR("resourceSpans"))), 1);
	buf_clear(&out);
	tracks_measure(&chrome.tracks, &x, NULL);
	tracks_settle(&chrome.tracks);
	chrome_begin(&chrome, &out);
	chrome_request(&chrome, &x, &out);
	chrome_end(&chrome, &out);
	assert_int_equal(json_count(json_get(parse(check, &out), STR("traceEvents"))), 2);
	tracks_done(&chrome.tracks);
	json_free(parser);
	json_free(check);
	buf_done(&attrs);
	buf_done(&out);
	arena_done(&a);
}

static void chrome_has_arrows_between_processes(void **state)
{
	struct chrome_state chrome = { 0 };
	struct json *check = json_new();
	struct buf out = { 0 };
	struct arena a = { 0 };
	struct json_walk w;
	unsigned starts = 0, ends = 0, slices = 0;
	struct fed x;

	(void)state;
	fed_init(&x, &call, &body, NULL, &a);
	tracks_measure(&chrome.tracks, &x, NULL);
	tracks_settle(&chrome.tracks);
	chrome_begin(&chrome, &out);
	chrome_request(&chrome, &x, &out);
	chrome_end(&chrome, &out);
	for (w = json_walk(json_get(parse(check, &out), STR("traceEvents"))); json_next(&w);) {
		struct str phase = STR("");

		json_str(json_get(w.value, STR("ph")), &phase);
		starts += str_eq(phase, STR("s"));
		ends += str_eq(phase, STR("f"));
		slices += str_eq(phase, STR("X"));
	}
	assert_int_equal(slices, 4);
	assert_int_equal(starts, 2);
	assert_int_equal(ends, 2);
	assert_true(str_find(buf_str(&out), STR("\"ts\":20.000,\"dur\":0.400")) < out.n);
	tracks_done(&chrome.tracks);
	json_free(check);
	buf_done(&out);
	arena_done(&a);
}

static void exporters_are_found_by_name(void **state)
{
	(void)state;
	for (const struct exporter *const *e = exporters; *e; e++)
		assert_ptr_equal(exporter_find((*e)->name), *e);
	assert_null(exporter_find("punch cards"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folded_self_time_is_what_no_child_covers),
		cmocka_unit_test(a_request_of_great_depth_folds_in_bounded_space),
		cmocka_unit_test(dot_shows_who_calls_whom),
		cmocka_unit_test(csv_quotes_as_the_standard_says),
		cmocka_unit_test(no_name_becomes_a_formula),
		cmocka_unit_test(base64_pads),
		cmocka_unit_test(ids_are_filled_up_or_hashed_but_never_cut),
		cmocka_unit_test(hostile_attributes_still_make_json),
		cmocka_unit_test(chrome_has_arrows_between_processes),
		cmocka_unit_test(exporters_are_found_by_name),
	};

	return RUN(tests);
}
