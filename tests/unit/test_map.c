#include "unit.h"

#include "base/map.h"

static void every_key_has_a_value_of_its_own_zero_too(void **state)
{
	struct map m = { 0 };
	uint64_t sum = 0, nr = 0;

	(void)state;
	assert_null(map_find(&m, 0));
	assert_null(map_find(&m, 7));
	for (uint64_t i = 0; i < 1000; i++)
		*map_at(&m, i << 32 | (i & 3)) = i + 1;
	assert_int_equal(m.nr, 1000);
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(*map_find(&m, i << 32 | (i & 3)), i + 1);
	assert_null(map_find(&m, 999));
	for (const struct map_slot *s = NULL; (s = map_next(&m, s)); nr++)
		sum += s->value;
	assert_int_equal(nr, 1000);
	assert_int_equal(sum, 500500);
	map_clear(&m);
	assert_null(map_find(&m, 0));
	assert_int_equal(*map_at(&m, 0), 0);
	map_done(&m);
}

static void room_that_is_made_keeps_what_is_there(void **state)
{
	struct map m = { 0 };

	(void)state;
	*map_at(&m, 5) = 50;
	*map_at(&m, 0) = 60;
	map_reserve(&m, 100000);
	assert_int_equal(*map_find(&m, 5), 50);
	assert_int_equal(*map_find(&m, 0), 60);
	assert_int_equal(m.nr, 2);
	map_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_has_a_value_of_its_own_zero_too),
		cmocka_unit_test(room_that_is_made_keeps_what_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
