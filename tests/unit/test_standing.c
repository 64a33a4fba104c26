/* Where threads stand that nothing may be changed under: also what a signal's handler goes back to.
 */
#include "unit.h"

#include "capture/probe/standing.h"

#define LOW 0x401000u
#define HIGH 0x402000u

static void a_handler_goes_back_to_what_the_kernel_kept(void **state)
{
	/* instruction pointer, flags, segments; then words that only look a little like them */
	const uint64_t stack[] = { 7,        0x401803, 0x246, 0x2b000000000033, 0x401900, 0x246,
				   0x401a00, 0x33,     0x33,  0x401b00,         0x244,    0x33,
				   0x400fff, 0x246,    0x33,  0x402000,         0x246,    0x33,
				   0x401c00, 0x246 };
	struct standing s = { 0 };

	(void)state;
	standing_search(&s, stack, sizeof(stack) / sizeof(*stack), LOW, HIGH);
	assert_int_equal(s.places.nr, 2);
	assert_int_equal(s.places.v[0], 0x401803);
	assert_int_equal(s.places.v[1], 0x401a00); /* 0x33 are flags, too */
	standing_done(&s);
}

static void bytes_are_free_unless_somebody_stands_behind_the_first(void **state)
{
	struct standing s = { 0 };

	(void)state;
	assert_false(standing_in(&s, LOW, 16));
	for (uint64_t at = LOW; at < LOW + 300; at += 100)
		vec_push(&s.places, at);
	assert_false(standing_in(&s, LOW, 5)); /* at the first: it has not begun */
	assert_true(standing_in(&s, LOW - 1, 5));
	assert_true(standing_in(&s, LOW + 96, 5));
	assert_false(standing_in(&s, LOW + 95, 5)); /* at the first behind them */
	assert_true(standing_in(&s, LOW + 199, 2));
	assert_false(standing_in(&s, LOW + 200, 99));
	assert_true(standing_in(&s, 0, UINT64_MAX));
	standing_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_handler_goes_back_to_what_the_kernel_kept),
		cmocka_unit_test(bytes_are_free_unless_somebody_stands_behind_the_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
