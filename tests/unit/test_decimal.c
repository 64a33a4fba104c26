#include "unit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/decimal.h"

static void same_as_printf(double d)
{
	char out[DECIMAL_BYTES], expected[400];

	for (unsigned places = 1; places <= 9; places++) {
		struct str s = decimal_fixed(out, d, places);

		snprintf(expected, sizeof(expected), "%.*f", (int)places, d);
		if (!str_eq(s, str_of(expected)))
			fail_msg("%a: '%.*s' but printf writes '%s'", d, STR_ARG(s), expected);
	}
}

static void fractions_are_those_of_printf(void **state)
{
	static const double odd[] = { 0,
				      -0.0,
				      1,
				      -1,
				      0.5,
				      0.1,
				      0.0000000005,
				      0.9999999995,
				      0.9999999996,
				      123.456,
				      1.0 / 1024 / 1024 / 1024,
				      3.0 / 1024 / 1024 / 1024,
				      1772445600.123456,
				      4503599627370495.5,
				      9007199254740991.0,
				      5e-324,
				      1e-300,
				      0x1p-47,
				      0x1p-48 };

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		same_as_printf(odd[i]);
		same_as_printf(-odd[i]);
	}
}

static void any_double_is_rounded_as_printf_does(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 50000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		/* ties: a few bits behind the point, from tiny to large */
		same_as_printf(ldexp((double)(seed >> (11 + i % 50)), -(i % 110)));
	}
}

static void what_is_too_large_or_no_number_is_left_to_others(void **state)
{
	char out[DECIMAL_BYTES];

	(void)state;
	assert_int_equal(decimal_fixed(out, 0x1p54, 9).n, 0);
	assert_int_equal(decimal_fixed(out, 1e300, 9).n, 0);
	assert_int_equal(decimal_fixed(out, INFINITY, 9).n, 0);
	assert_int_equal(decimal_fixed(out, NAN, 9).n, 0);
}

static void whole_numbers_have_all_their_digits(void **state)
{
	static const int64_t numbers[] = { 0, 1, -1, 9, 10, -10, 1234567890, INT64_MAX, INT64_MIN };
	char out[DECIMAL_BYTES], expected[40];

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		snprintf(expected, sizeof(expected), "%" PRId64, numbers[i]);
		assert_true(str_eq(decimal_int(out, numbers[i]), str_of(expected)));
	}
	assert_true(str_eq(decimal_uint(out, UINT64_MAX), STR("18446744073709551615")));
	assert_true(str_eq(decimal_uint(out, 0), STR("0")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fractions_are_those_of_printf),
		cmocka_unit_test(any_double_is_rounded_as_printf_does),
		cmocka_unit_test(what_is_too_large_or_no_number_is_left_to_others),
		cmocka_unit_test(whole_numbers_have_all_their_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
