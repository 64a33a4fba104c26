#include "unit.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/str.h"

static void takers_leave_the_text_alone_when_they_fail(void **state)
{
	struct str s = STR("abc");
	uint64_t u = 7;
	int64_t i = 7;
	double d = 7;
	unsigned n = 7;

	(void)state;
	assert_false(str_take_uint(&s, &u));
	assert_false(str_take_int(&s, &i));
	assert_false(str_take_double(&s, &d));
	assert_false(str_take_digits(&s, 2, &n));
	assert_false(str_take_char(&s, 'x'));
	assert_false(str_take(&s, STR("abcd")));
	assert_str_equal(s, "abc");
	assert_int_equal(u, 7);
	assert_int_equal(i, 7);
	assert_int_equal(n, 7);
}

static void numbers_beyond_their_type_are_refused(void **state)
{
	struct str most = STR("18446744073709551615"), more = STR("18446744073709551616");
	struct str least = STR("-9223372036854775808"), less = STR("-9223372036854775809");
	uint64_t u;
	int64_t i;

	(void)state;
	assert_true(str_take_uint(&most, &u));
	assert_true(u == UINT64_MAX);
	assert_false(str_take_uint(&more, &u));
	assert_true(str_take_int(&least, &i));
	assert_true(i == INT64_MIN);
	assert_false(str_take_int(&less, &i));
}

static void hexadecimal_takes_sixteen_digits_and_no_more(void **state)
{
	struct str ok = STR("fFfFfFfFfFfFfFfF-"), no = STR("0ffffffffffffffff");
	uint64_t v;

	(void)state;
	assert_true(str_take_hex(&ok, &v));
	assert_true(v == UINT64_MAX);
	assert_str_equal(ok, "-");
	assert_false(str_take_hex(&no, &v));
}

static void doubles_are_decimal_only(void **state)
{
	struct str a = STR("1.5e3x"), b = STR("0x10"), c = STR("inf"), d = STR("-.25 ");
	double v = 0;

	(void)state;
	assert_true(str_take_double(&a, &v) && v == 1500.0);
	assert_str_equal(a, "x");
	assert_false(str_take_double(&b, &v));
	assert_false(str_take_double(&c, &v));
	assert_true(str_take_double(&d, &v) && v == -0.25);
}

static void doubles_are_those_of_strtod(void **state)
{
	static const char *const texts[] = {
		"0",
		"-0",
		"5.",
		".5",
		"-.25",
		"0.1",
		"123456789012345",
		"1234567890123456",
		"0.123456789012345",
		"0.1234567890123456",
		"9007199254740993",
		"1e3",
		"1.5E-7x",
		"1772445600.123456",
		"00012.50",
		"3ms",
		"7.5.3",
		"1.",
		"2e",
		"0.000000000000001",
		"4.35",
		"999999999999999",
		"1e400",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct str s = str_of(texts[i]);
		char *end;
		double expected = strtod(texts[i], &end), v = -1;

		assert_true(str_take_double(&s, &v));
		assert_ptr_equal(s.p, end);
		assert_memory_equal(&v, &expected, sizeof(v));
	}
}

static void lines_end_with_lf_crlf_or_the_text(void **state)
{
	struct str s = STR("a\r\n\nb"), line;

	(void)state;
	assert_true(str_take_line(&s, &line));
	assert_str_equal(line, "a");
	assert_true(str_take_line(&s, &line));
	assert_str_equal(line, "");
	assert_true(str_take_line(&s, &line));
	assert_str_equal(line, "b");
	assert_false(str_take_line(&s, &line));
}

static void order_is_by_bytes_then_length(void **state)
{
	(void)state;
	assert_true(str_cmp(STR("a"), STR("b")) < 0);
	assert_true(str_cmp(STR("a"), STR("aa")) < 0);
	assert_int_equal(str_cmp(STR(""), STR("")), 0);
	assert_true(str_eq_nocase(STR("WaRn"), STR("wArN")));
}

static void words_and_trims_see_blanks(void **state)
{
	struct str s = STR("  one\ttwo "), w;

	(void)state;
	assert_true(str_take_word(&s, &w));
	assert_str_equal(w, "one");
	assert_true(str_take_word(&s, &w));
	assert_str_equal(w, "two");
	assert_false(str_take_word(&s, &w));
	assert_str_equal(str_trim(STR(" \t x \r\n")), "x");
	assert_int_equal(str_find(STR("hello"), STR("lo")), 3);
	assert_int_equal(str_find(STR("hello"), STR("z")), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takers_leave_the_text_alone_when_they_fail),
		cmocka_unit_test(numbers_beyond_their_type_are_refused),
		cmocka_unit_test(hexadecimal_takes_sixteen_digits_and_no_more),
		cmocka_unit_test(doubles_are_decimal_only),
		cmocka_unit_test(doubles_are_those_of_strtod),
		cmocka_unit_test(lines_end_with_lf_crlf_or_the_text),
		cmocka_unit_test(order_is_by_bytes_then_length),
		cmocka_unit_test(words_and_trims_see_blanks),
	};

	return RUN(tests);
}
