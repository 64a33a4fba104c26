#include "unit.h"

#include "base/lists.h"

static void equal_lists_get_one_number(void **state)
{
	struct lists t = { 0 };
	uint32_t v[4] = { 0 };

	(void)state;
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 1000; i++) {
			v[0] = i / 10;
			v[1] = i % 10;
			assert_int_equal(lists_add(&t, v, 2), i);
		}
	assert_int_equal(lists_length(&t, 437), 2);
	assert_int_equal(lists_of(&t, 437)[0], 43);
	assert_int_equal(lists_of(&t, 437)[1], 7);
	lists_done(&t);
}

static void order_and_length_tell_lists_apart(void **state)
{
	struct lists t = { 0 };
	const uint32_t v[] = { 1, 2, 1, 0 };

	(void)state;
	assert_int_equal(lists_add(&t, v, 0), 0);
	assert_int_equal(lists_add(&t, v, 1), 1);
	assert_int_equal(lists_add(&t, v, 2), 2);
	assert_int_equal(lists_add(&t, v + 1, 2), 3);
	assert_int_equal(lists_add(&t, v + 2, 1), 1);
	assert_int_equal(lists_add(&t, NULL, 0), 0);
	lists_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_lists_get_one_number),
		cmocka_unit_test(order_and_length_tell_lists_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
