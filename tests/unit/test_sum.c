#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/sum.h"

#define NR 300

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 11;
}

static void whole_numbers_stay_whole_while_they_fit(void **state)
{
	struct sum s = { 0 };
	int64_t v;

	(void)state;
	assert_true(sum_whole(&s, &v));
	assert_int_equal(v, 0);
	sum_int(&s, INT64_MAX, 1);
	sum_int(&s, -5, 3);
	assert_true(sum_whole(&s, &v));
	assert_int_equal(v, INT64_MAX - 15);
	sum_int(&s, 16, 1);
	assert_false(sum_whole(&s, &v));
	assert_true(sum_value(&s) == 0x1p63);
	sum_int(&s, INT64_MIN, 2);
	assert_true(sum_whole(&s, &v));
	assert_true(v == INT64_MIN);
	sum_done(&s);
}

static void a_small_number_is_not_lost_between_large_ones(void **state)
{
	struct sum s = { 0 };

	(void)state;
	assert_true(sum_double(&s, 1e300, 1));
	assert_true(sum_double(&s, 0.1, 1));
	assert_true(sum_double(&s, -1e300, 1));
	assert_true(sum_value(&s) == 0.1);
	assert_true(sum_double(&s, -0.1, 1));
	assert_true(sum_double(&s, DBL_TRUE_MIN, 3));
	assert_true(sum_value(&s) == 3 * DBL_TRUE_MIN);
	assert_false(sum_double(&s, INFINITY, 1));
	assert_false(sum_double(&s, NAN, 1));
	sum_done(&s);
}

static double number(uint64_t *seed)
{
	double d = ldexp((double)next(seed), (int)(next(seed) % 200) - 150);

	return next(seed) & 1 ? d : -d;
}

/* However they are divided and put together: the same bytes. */
static void the_order_makes_no_difference(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 200; seed++) {
		struct sum one = { 0 }, parts[4] = { 0 }, back = { 0 };
		struct buf a = { 0 }, b = { 0 };
		struct str bytes;
		uint64_t r = seed;

		for (int i = 0; i < NR; i++) {
			double d = number(&r);
			uint64_t times = 1 + next(&r) % 3;

			if (i % 3) {
				sum_double(&one, d, times);
				sum_double(&parts[next(&r) % 4], d, times);
			} else {
				sum_int(&one, (int64_t)next(&r) - 7, times);
			}
		}
		/* the whole numbers again, from the back */
		r = seed;
		for (int i = 0; i < NR; i++) {
			uint64_t times;

			number(&r);
			times = 1 + next(&r) % 3;
			if (i % 3)
				next(&r);
			else
				sum_int(&parts[3 - i % 4], (int64_t)next(&r) - 7, times);
		}
		for (int i = 2; i >= 0; i--)
			sum_merge(&parts[i], &parts[i + 1]);
		sum_pack(&a, &one);
		sum_pack(&b, &parts[0]);
		assert_true(str_eq(buf_str(&a), buf_str(&b)));
		assert_true(sum_value(&one) == sum_value(&parts[0]));
		bytes = buf_str(&a);
		assert_true(sum_take(&bytes, &back));
		assert_int_equal(bytes.n, 0);
		assert_true(sum_value(&one) == sum_value(&back));
		for (int i = 0; i < 4; i++)
			sum_done(&parts[i]);
		sum_done(&one);
		sum_done(&back);
		buf_done(&a);
		buf_done(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers_stay_whole_while_they_fit),
		cmocka_unit_test(a_small_number_is_not_lost_between_large_ones),
		cmocka_unit_test(the_order_makes_no_difference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
