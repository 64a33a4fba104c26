#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/exact.h"

#define TOP 0x7fffffffffffffffu

static void products_carry_through_all_words(void **state)
{
	struct exact sum = { { UINT64_MAX, UINT64_MAX, UINT64_MAX, 0 } };

	(void)state;
	exact_add_product(&sum, 1, 1);
	assert_true(exact_eq(sum, (struct exact){ { 0, 0, 0, 1 } }));
}

static void the_largest_times_do_not_overflow(void **state)
{
	struct exact sum = { 0 }, square = exact_product(TOP, TOP);

	(void)state;
	for (int i = 0; i < 1000; i++)
		exact_add_product(&sum, TOP, TOP);
	assert_true(exact_eq(sum, exact_times(square, 1000)));
	assert_false(exact_is_negative(exact_times(exact_times(square, UINT64_MAX), UINT64_MAX)));
}

static void differences_have_a_sign(void **state)
{
	struct exact a = exact_product((uint128_t)5 << 64, 7), b = exact_product(3, 11);

	(void)state;
	assert_false(exact_is_negative(exact_less(a, b)));
	assert_true(exact_is_negative(exact_less(b, a)));
	assert_true(exact_eq(exact_sum(exact_less(b, a), a), b));
	assert_true(exact_double(exact_less(b, a)) == -35 * 0x1p64 + 33);
	assert_true(exact_double(b) == 33);
}

static void long_products_are_those_of_their_halves(void **state)
{
	uint128_t a = ((uint128_t)0x123456789abcdef0u << 64) + 0xfedcba9876543210u;
	struct exact p = exact_product(a, ((uint128_t)1 << 64) + 2);
	struct exact q = exact_sum(exact_product(a, 2), exact_product(a, (uint128_t)1 << 64));

	(void)state;
	assert_true(exact_eq(p, q));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_carry_through_all_words),
		cmocka_unit_test(the_largest_times_do_not_overflow),
		cmocka_unit_test(differences_have_a_sign),
		cmocka_unit_test(long_products_are_those_of_their_halves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
