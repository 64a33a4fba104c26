#include "unit.h"

#include "base/utf8.h"

static void only_valid_characters_have_a_length(void **state)
{
	(void)state;
	assert_int_equal(utf8_length(STR("a")), 1);
	assert_int_equal(utf8_length(STR("\xc3\xa9")), 2);
	assert_int_equal(utf8_length(STR("\xe2\x96\x88")), 3);
	assert_int_equal(utf8_length(STR("\xf0\x9f\x98\x80")), 4);
	assert_int_equal(utf8_length(STR("")), 0);
	assert_int_equal(utf8_length(STR("\xc0\xaf")), 0);     /* overlong */
	assert_int_equal(utf8_length(STR("\xed\xa0\x80")), 0); /* surrogate */
	assert_int_equal(utf8_length(STR("\xf4\x90\x80\x80")), 0);
	assert_int_equal(utf8_length(STR("\xe2\x96")), 0);
	assert_int_equal(utf8_length(STR("\x80")), 0);
}

static void width_counts_columns(void **state)
{
	(void)state;
	assert_int_equal(utf8_width(STR("abc")), 3);
	assert_int_equal(utf8_width(STR("\xe2\x96\x88\xe2\x96\x88")), 2);
	assert_int_equal(utf8_width(STR("\xe6\x97\xa5\xe6\x9c\xac")), 4);
	assert_int_equal(utf8_width(STR("e\xcc\x81")), 1);
	assert_int_equal(utf8_width(STR("\xff\xff")), 2);
}

static void cutting_never_splits_a_character(void **state)
{
	struct str s = STR("a\xe6\x97\xa5"
			   "b");

	(void)state;
	assert_int_equal(utf8_fit(s, 0).n, 0);
	assert_int_equal(utf8_fit(s, 1).n, 1);
	assert_int_equal(utf8_fit(s, 2).n, 1);
	assert_int_equal(utf8_fit(s, 3).n, 4);
	assert_int_equal(utf8_fit(s, 9).n, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_valid_characters_have_a_length),
		cmocka_unit_test(width_counts_columns),
		cmocka_unit_test(cutting_never_splits_a_character),
	};

	return RUN(tests);
}
