#include "unit.h"

#include "infer/requests/beside.h"

static uint32_t value_of(uint32_t thing, uint32_t other)
{
	return 1 + thing * 1000 + other;
}

/* One thing has more pairs than its list may hold. */
static void every_pair_has_a_number_of_its_own_however_many_a_thing_has(void **state)
{
	enum { THINGS = 300, MANY = 500 };
	struct beside b = { 0 };
	struct beside_cursor c = { 0 };
	struct beside_pair p;
	size_t nr = 0, want = 0;

	(void)state;
	assert_null(beside_find(&b, 7, 7));
	for (uint32_t other = 0; other < MANY; other++)
		for (uint32_t thing = 0; thing < THINGS; thing++) {
			if (thing % 100 != 1 && other > thing % 9)
				continue;
			assert_null(beside_find(&b, thing, other));
			assert_int_equal(*beside_at(&b, thing, other), 0);
			*beside_at(&b, thing, other) = value_of(thing, other);
			want++;
		}
	assert_int_equal(b.nr, want);
	for (; beside_next(&b, &c, &p); nr++) {
		assert_int_equal(p.value, value_of(p.thing, p.other));
		assert_int_equal(*beside_find(&b, p.thing, p.other), p.value);
	}
	assert_int_equal(nr, want);
	assert_null(beside_find(&b, 1, MANY));
	assert_null(beside_find(&b, 2, MANY));
	beside_done(&b);
	assert_null(beside_find(&b, 1, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pair_has_a_number_of_its_own_however_many_a_thing_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
