/* A thread that is held, from outside: who lets it go knows whether it has waited up to then. */
#include "capture/probe/hold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/time.h"
#include "wire/probe_region.h"

static struct probe_region *region_with(uint32_t state)
{
	struct probe_region *r = mem_zalloc(sizeof(*r));

	r->hold.state = state;
	return r;
}

static void who_waits_is_let_go_once(void **state)
{
	struct probe_region *r = region_with(PROBE_HOLD_WAITS);

	(void)state;
	assert_true(hold_is(r));
	assert_true(hold_wait(r, 0));
	assert_true(hold_let_go(r));
	assert_int_equal(r->hold.state, PROBE_HOLD_LET_GO);
	assert_false(hold_is(r));
	assert_false(hold_let_go(r));
	free(r);
}

static void who_has_not_come_has_not_waited(void **state)
{
	struct probe_region *r = region_with(PROBE_HOLD_ARMED);

	(void)state;
	assert_true(hold_is(r));
	assert_false(hold_wait(r, 3 * NS_MS));
	assert_false(hold_let_go(r));
	assert_int_equal(r->hold.state, PROBE_HOLD_LET_GO);
	free(r);
}

static void who_went_on_alone_or_was_never_held_stays_so(void **state)
{
	static const uint32_t others[] = { PROBE_HOLD_NONE, PROBE_HOLD_RAN_OUT };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct probe_region *r = region_with(others[i]);

		assert_false(hold_is(r));
		assert_false(hold_wait(r, NS_S));
		assert_false(hold_let_go(r));
		assert_int_equal(r->hold.state, others[i]);
		free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_waits_is_let_go_once),
		cmocka_unit_test(who_has_not_come_has_not_waited),
		cmocka_unit_test(who_went_on_alone_or_was_never_held_stays_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
