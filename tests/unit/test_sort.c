#include "unit.h"

#include <stdlib.h>

#include "base/sort.h"

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 11;
}

static void check(size_t nr, uint64_t mask)
{
	struct sort_item *v = calloc(nr + 1, sizeof(*v));
	uint64_t seed = nr, sum = 0, sum_sorted = 0;

	for (size_t i = 0; i < nr; i++) {
		v[i] = (struct sort_item){ next(&seed) & mask, i };
		sum += v[i].key * (i + 1);
	}
	sort_items(v, nr);
	for (size_t i = 0; i < nr; i++) {
		sum_sorted += v[i].key * (v[i].at + 1);
		if (i)
			assert_true(v[i - 1].key < v[i].key ||
				    (v[i - 1].key == v[i].key && v[i - 1].at < v[i].at));
	}
	assert_true(sum == sum_sorted);
	free(v);
}

static void few_and_many_come_in_order_and_equal_ones_as_they_were(void **state)
{
	const size_t nr[] = { 0, 1, 2, 64, 65, 129, 4096, 4097, 9000 };
	const uint64_t masks[] = { 0, 3, 0x7ff, 0xfff000, UINT64_C(0xff) << 56, UINT64_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof(nr) / sizeof(*nr); i++)
		for (size_t k = 0; k < sizeof(masks) / sizeof(*masks); k++)
			check(nr[i], masks[k]);
}

static void negative_numbers_come_first(void **state)
{
	(void)state;
	assert_true(sort_signed(INT64_MIN) < sort_signed(-1));
	assert_true(sort_signed(-1) < sort_signed(0));
	assert_true(sort_signed(0) < sort_signed(INT64_MAX));
}

static uint64_t second_of(const void *record)
{
	return ((const uint32_t *)record)[1];
}

static void records_move_as_a_whole(void **state)
{
	uint32_t v[][3] = { { 1, 9, 1 }, { 2, 3, 2 }, { 3, 9, 3 }, { 4, 0, 4 } };

	(void)state;
	sort_records(v, 4, sizeof(*v), second_of);
	assert_int_equal(v[0][0], 4);
	assert_int_equal(v[1][2], 2);
	assert_int_equal(v[2][0], 1);
	assert_int_equal(v[3][2], 3);
	sort_records(v, 0, sizeof(*v), second_of);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_and_many_come_in_order_and_equal_ones_as_they_were),
		cmocka_unit_test(negative_numbers_come_first),
		cmocka_unit_test(records_move_as_a_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
