#include "unit.h"

#include "base/map.h"
#include "base/shelf.h"

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

static void check(struct map *m, uint64_t nr, uint64_t step)
{
	for (uint64_t i = 0; i < nr; i++)
		*map_at(m, i * step) = i + 1;
	assert_int_equal(m->nr, nr);
	for (uint64_t i = 0; i < nr; i++)
		assert_int_equal(*map_find(m, i * step), i + 1);
	assert_null(map_find(m, nr * step));
	assert_null(map_find(m, nr * step + step / 2 + 1));
	map_done(m);
}

/* Steps of powers of two are the worst for a place that goes by the last bits. */
static void large_tables_take_keys_of_any_step(void **state)
{
	static const uint64_t steps[] = { 1, 2, 3, 64, 256, 4096, (uint64_t)1 << 32 };
	struct shelf *s = shelf_new((size_t)64 << 20, NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct map m = { .shelf = s };

		check(&m, 50000, steps[i]);
	}
	shelf_free(s);
}

static void keys_beside_each_other_stand_close_in_large_tables(void **state)
{
	struct shelf *s = shelf_new((size_t)64 << 20, NULL);
	struct map m = { .shelf = s };
	uint64_t nr_pages = 0;

	(void)state;
	for (uint32_t i = 0; i < 100000; i++)
		*map_at(&m, map_pair(i % 3, i)) = *map_at(&m, map_three(i % 5, 9, i)) = i;
	for (uint32_t i = 3; i < 100000; i += 3) {
		uintptr_t at = (uintptr_t)map_find(&m, map_pair(0, i));
		uintptr_t before = (uintptr_t)map_find(&m, map_pair(0, i - 3));

		nr_pages += at / 4096 != before / 4096;
	}
	assert_true(nr_pages < 33333 / 4);
	map_done(&m);
	shelf_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_has_a_value_of_its_own_zero_too),
		cmocka_unit_test(room_that_is_made_keeps_what_is_there),
		cmocka_unit_test(large_tables_take_keys_of_any_step),
		cmocka_unit_test(keys_beside_each_other_stand_close_in_large_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
