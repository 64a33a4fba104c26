#include "unit.h"

#include "ask/stats.h"

static void percentiles_are_nearest_ranks(void **state)
{
	int64_t v[] = { 5, 1, 4, 2, 3 };

	(void)state;
	stats_sort(v, 5);
	assert_int_equal(v[0], 1);
	assert_int_equal(stats_percentile(v, 5, 0), 1);
	assert_int_equal(stats_percentile(v, 5, 0.5), 3);
	assert_int_equal(stats_percentile(v, 5, 0.61), 4);
	assert_int_equal(stats_percentile(v, 5, 0.99), 5);
	assert_int_equal(stats_percentile(v, 5, 1), 5);
}

static void nothing_has_percentile_and_mean_zero(void **state)
{
	(void)state;
	assert_int_equal(stats_percentile(NULL, 0, 0.5), 0);
	assert_true(stats_mean(NULL, 0) == 0);
}

static void means_of_large_values_do_not_overflow(void **state)
{
	int64_t v[] = { INT64_MAX, INT64_MAX, INT64_MAX };

	(void)state;
	assert_true(stats_mean(v, 3) > 9e18);
}

static void more_often_grows_with_evidence(void **state)
{
	double few = stats_more_often(2, 2, 1, 2), many = stats_more_often(40, 40, 20, 40);

	(void)state;
	assert_true(few > 0.5 && few < 0.9);
	assert_true(many > 0.99);
	assert_true(stats_more_often(5, 50, 5, 50) < 0.51);
	assert_true(stats_more_often(1, 50, 30, 50) < 0.01);
}

static void dice_repeat_and_stay_below(void **state)
{
	struct dice a = { 3 }, b = { 3 };
	size_t seen[6] = { 0 };

	(void)state;
	for (int i = 0; i < 6000; i++) {
		size_t x = dice_below(&a, 6);

		assert_int_equal(x, dice_below(&b, 6));
		assert_true(x < 6);
		seen[x]++;
	}
	for (int i = 0; i < 6; i++)
		assert_true(seen[i] > 850 && seen[i] < 1150);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_are_nearest_ranks),
		cmocka_unit_test(nothing_has_percentile_and_mean_zero),
		cmocka_unit_test(means_of_large_values_do_not_overflow),
		cmocka_unit_test(more_often_grows_with_evidence),
		cmocka_unit_test(dice_repeat_and_stay_below),
	};

	return RUN(tests);
}
