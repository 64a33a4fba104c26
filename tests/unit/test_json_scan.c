#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "source/json_scan.h"

/* The slow way: one byte after the other. */
static size_t end_by_hand(struct str s)
{
	bool in_string = false, escaped = false;
	size_t depth = 0;

	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (escaped)
			escaped = false;
		else if (c == '\\')
			escaped = true;
		else if (c == '"')
			in_string = !in_string;
		else if (!in_string && (c == '{' || c == '['))
			depth++;
		else if (!in_string && (c == '}' || c == ']') && !--depth)
			return i + 1;
	}
	return 0;
}

/* Values of every length around the block size, with quotes, brackets and runs of backslashes. */
static size_t make_value(char *p, size_t n, unsigned *seed)
{
	static const char inside[] = "ab\\\\\\\"{}[] ,:";
	size_t at = 0;

	p[at++] = '[';
	while (at < n) {
		p[at++] = '"';
		for (int k = rand_r(seed) % 40; k > 0 && at < n; k--) {
			char c = inside[(unsigned)rand_r(seed) % (sizeof(inside) - 1)];

			if (c == '"' || c == '\\') {
				p[at++] = '\\';
				p[at++] = c;
			} else {
				p[at++] = c;
			}
		}
		p[at++] = '"';
		p[at++] = ',';
	}
	memcpy(p + at, "{}]", 3);
	return at + 3;
}

static void the_fast_scan_agrees_with_the_slow_one(void **state)
{
	unsigned seed = 7;
	char p[1024];

	(void)state;
	for (size_t n = 1; n < 400; n++) {
		struct str s = { p, make_value(p, n, &seed) };

		s.n += (size_t)snprintf(p + s.n, sizeof(p) - s.n, " ]}\" behind");
		assert_int_equal(json_scan_any(s, 0), end_by_hand(s));
	}
}

static void a_scan_may_stop_at_any_byte_and_go_on(void **state)
{
	unsigned seed = 11;
	char p[512];
	size_t n = make_value(p, 300, &seed);

	(void)state;
	for (size_t stop = 1; stop < n; stop++) {
		struct json_scan scan = { 0 };
		size_t at = 0;

		assert_false(json_scan_value(&scan, (struct str){ p, stop }, &at));
		assert_int_equal(at, stop);
		assert_true(json_scan_value(&scan, (struct str){ p, n }, &at));
		assert_int_equal(at, n);
	}
}

static void lines_are_told_from_documents(void **state)
{
	(void)state;
	assert_true(json_scan_is_lines(STR("{\"a\":1}\n{\"a\":2}\n"), true));
	assert_true(json_scan_is_lines(STR("{\"a\":1}"), true));
	assert_true(json_scan_is_lines(STR("\n\n[1] \r\n"), true));
	assert_false(json_scan_is_lines(STR("{\"a\":1}"), false));
	assert_false(json_scan_is_lines(STR("{\n\"a\":1}\n"), true));
	assert_false(json_scan_is_lines(STR("[{\"a\":1},\n{\"a\":2}]\n"), true));
	assert_false(json_scan_is_lines(STR("{\"a\":1} {\"a\":2}\n"), true));
	assert_false(json_scan_is_lines(STR("plain text\n"), true));
	assert_false(json_scan_is_lines(STR(""), true));
}

static void a_key_is_a_string_before_a_colon(void **state)
{
	(void)state;
	assert_true(json_scan_has_key(STR("{\"ph\" : 1}"), STR("ph")));
	assert_false(json_scan_has_key(STR("{\"x\":\"ph\"}"), STR("ph")));
	assert_false(json_scan_has_key(STR("{\"msg\":\"\\\"ph\\\": 1\"}"), STR("ph")));
	assert_false(json_scan_has_key(STR("ph"), STR("ph")));
}

static void mends(const char *text, const char *want, bool nameless)
{
	static const struct str arrays[] = { { "spans", 5 } };
	const struct json_units units = { arrays, 1, nameless };
	struct buf out = { 0 };

	if (want) {
		assert_true(json_scan_mend(str_of(text), &units, &out));
		assert_str_equal(buf_str(&out), want);
	} else {
		assert_false(json_scan_mend(str_of(text), &units, &out));
		assert_int_equal(out.n, 0);
	}
	buf_done(&out);
}

static void a_cut_value_keeps_its_whole_items(void **state)
{
	(void)state;
	mends("{\"t\":1,\"spans\":[{\"a\":[{}]},{\"a\":[{},{}],\"b",
	      "{\"t\":1,\"spans\":[{\"a\":[{}]}]}", false);
	/* what stands behind the items is kept as far as it goes */
	mends("{\"spans\":[{\"a\":1}],\"p\":{\"p1\":{\"n\":1},\"p2\":{\"n\"",
	      "{\"spans\":[{\"a\":1}],\"p\":{\"p1\":{\"n\":1}}}", false);
	mends("[{\"spans\":[{}]},{\"spans\":[{},{", "[{\"spans\":[{}]},{\"spans\":[{}]}]", false);
	mends("[{\"a\":[{}]},{\"a\":[{},", "[{\"a\":[{}]}]", true);
	mends("[[{\"a\":[{}]},{\"a\":[{},", "[[{\"a\":[{}]}]]", true);
}

static void a_cut_value_without_a_whole_item_is_lost(void **state)
{
	(void)state;
	mends("{\"t\":{\"x\":[1,2]},\"spans\":[{\"a\":[{}]", NULL, false);
	mends("{\"t\":{}", NULL, false);
	mends("]]", NULL, true);
	mends("", NULL, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fast_scan_agrees_with_the_slow_one),
		cmocka_unit_test(a_scan_may_stop_at_any_byte_and_go_on),
		cmocka_unit_test(lines_are_told_from_documents),
		cmocka_unit_test(a_key_is_a_string_before_a_colon),
		cmocka_unit_test(a_cut_value_keeps_its_whole_items),
		cmocka_unit_test(a_cut_value_without_a_whole_item_is_lost),
	};

	return RUN(tests);
}
