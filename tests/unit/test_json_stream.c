#include "unit.h"

#include "base/buf.h"
#include "base/error.h"
#include "source/input.h"
#include "source/json_stream.h"

static const char *const members[] = { "data", "more", NULL };

struct seen {
	struct buf runs; /* each with '|' behind, '~' in front when it is cut */
	bool is_cut, is_open_array;
	uint64_t nr_broken;
};

static struct seen stream(struct str text, size_t run_bytes)
{
	const struct json_stream_how how = { members, run_bytes };
	struct seen seen = { 0 };
	struct error err = { 0 };
	struct json_stream *s;
	struct json_run run;
	struct input *in;
	int r;

	assert_int_equal(input_of_bytes(&in, "text", text, &err), 0);
	s = json_stream_new(in, &how);
	while ((r = json_stream_next(s, &run, &err)) > 0) {
		if (run.is_cut)
			buf_char(&seen.runs, '~');
		buf_add(&seen.runs, run.text);
		buf_char(&seen.runs, '|');
	}
	assert_int_equal(r, 0);
	seen.is_cut = json_stream_is_cut(s);
	seen.is_open_array = json_stream_is_open_array(s);
	seen.nr_broken = json_stream_nr_broken(s);
	json_stream_free(s);
	input_close(in);
	return seen;
}

static void gives(const char *text, size_t run_bytes, const char *want)
{
	struct seen seen = stream(str_of(text), run_bytes);

	assert_str_equal(buf_str(&seen.runs), want);
	buf_done(&seen.runs);
}

static void documents_in_a_row_come_one_by_one(void **state)
{
	(void)state;
	gives("{\"a\":[1,2]}\n{\"b\":\"}\"}  {}", 1, "{\"a\":[1,2]}|{\"b\":\"}\"}|{}|");
	gives("\xef\xbb\xbf{\"a\":1}", 1, "{\"a\":1}|");
	gives("", 1, "");
	gives(" \n ", 1, "");
}

static void named_arrays_are_taken_apart(void **state)
{
	(void)state;
	gives("{\"x\":{\"data\":[9]},\"data\":[{\"a\":1}, [2], \"s\", 3],\"y\":1,\"more\":[{}]}", 1,
	      "{\"a\":1}|[2]|\"s\"|3|{}|");
	gives("[{\"a\":1},\n{\"a\":2}]", 1, "{\"a\":1}|{\"a\":2}|");
	gives("{\"data\":[]}{\"data\":{}}", 1, "{\"data\":{}}|");
}

static void runs_hold_items_up_to_their_size(void **state)
{
	(void)state;
	gives("[11,22,33,44,55]", 4, "11,22|33,44|55|");
	gives("[ {\"a\":1} , {\"a\":2} ]", 1000, "{\"a\":1} , {\"a\":2}|");
}

static void an_input_that_ends_inside_says_so(void **state)
{
	struct seen seen;

	(void)state;
	seen = stream(STR("{\"data\":[{\"a\":1},{\"a\":2"), 1);
	assert_str_equal(buf_str(&seen.runs), "{\"a\":1}|~{\"a\":2|");
	assert_true(seen.is_cut && !seen.is_open_array);
	buf_done(&seen.runs);
	seen = stream(STR("{\"spans\":[{\"a\":1},{\"a"), 1);
	assert_str_equal(buf_str(&seen.runs), "~{\"spans\":[{\"a\":1},{\"a|");
	assert_true(seen.is_cut);
	buf_done(&seen.runs);
	seen = stream(STR("[{\"a\":1},\n"), 1);
	assert_str_equal(buf_str(&seen.runs), "{\"a\":1}|");
	assert_true(seen.is_cut && seen.is_open_array);
	buf_done(&seen.runs);
	seen = stream(STR("{\"data\":[1],\"x\":"), 1);
	assert_str_equal(buf_str(&seen.runs), "1|");
	assert_true(seen.is_cut);
	buf_done(&seen.runs);
}

static void what_is_no_json_is_passed_over_and_counted(void **state)
{
	struct seen seen = stream(STR("garbage {\n{\"a\":1}\n{x}\n{\"a\":2}\n"), 1);

	(void)state;
	assert_str_equal(buf_str(&seen.runs), "{\"a\":1}|{\"a\":2}|");
	assert_int_equal(seen.nr_broken, 2);
	buf_done(&seen.runs);
}

/* Larger than the window, so that it moves and grows while values are open. */
static void big_documents_come_through_whole(void **state)
{
	struct buf text = { 0 }, want = { 0 };
	struct seen seen;

	(void)state;
	buf_add(&text, STR("{\"note\":\"]\\\"[\",\"data\":[\n"));
	for (int i = 0; i < 30000; i++) {
		size_t start;

		if (i)
			buf_add(&text, STR(",\n"));
		start = text.n;
		buf_fmt(&text, "{\"id\":%d,\"text\":\"%0*d \\\\\\\" }\",\"l\":[{\"k\":[%d]}]}", i,
			1 + i % 300, i, i);
		buf_add(&want, str_skip(buf_str(&text), start));
		buf_char(&want, '|');
	}
	buf_add(&text, STR("]}"));
	seen = stream(buf_str(&text), 1);
	assert_true(str_eq(buf_str(&seen.runs), buf_str(&want)));
	assert_false(seen.is_cut);
	buf_done(&seen.runs);
	buf_done(&text);
	buf_done(&want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(documents_in_a_row_come_one_by_one),
		cmocka_unit_test(named_arrays_are_taken_apart),
		cmocka_unit_test(runs_hold_items_up_to_their_size),
		cmocka_unit_test(an_input_that_ends_inside_says_so),
		cmocka_unit_test(what_is_no_json_is_passed_over_and_counted),
		cmocka_unit_test(big_documents_come_through_whole),
	};

	return RUN(tests);
}
