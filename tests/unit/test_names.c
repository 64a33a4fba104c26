#include "unit.h"

#include <stdio.h>

#include "base/names.h"

static void equal_strings_get_one_number(void **state)
{
	struct names t = { 0 };
	char text[32];

	(void)state;
	assert_int_equal(names_find(&t, STR("x")), 0);
	for (int round = 0; round < 2; round++)
		for (unsigned i = 1; i <= 10000; i++) {
			snprintf(text, sizeof(text), "name-%u", i);
			assert_int_equal(names_add(&t, str_of(text)), i);
		}
	assert_str_equal(names_str(&t, 4711), "name-4711");
	assert_int_equal(names_find(&t, STR("name-9999")), 9999);
	assert_int_equal(names_find(&t, STR("nobody")), 0);
	names_done(&t);
}

static void the_empty_string_is_number_zero(void **state)
{
	struct names t = { 0 };

	(void)state;
	assert_int_equal(names_add(&t, STR("")), 0);
	assert_str_equal(names_str(&t, 0), "");
	assert_str_equal(names_str(&t, 77), "");
	names_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_strings_get_one_number),
		cmocka_unit_test(the_empty_string_is_number_zero),
	};

	return RUN(tests);
}
