#include "unit.h"

#include "capture/jvm/methods.h"

static void answers_are_heard(void **state)
{
	struct jvm_heard h = { 0 };

	(void)state;
	jvm_heard_take(&h, STR("found\t1\ta.Disk\tput\n"
			       "calls\t7\ta.Store+\tput\n"
			       "woven\t7\ta/B.c()V\n"
			       "refused\t8\ta/B.d()V\tit is too long\n"
			       "refused\t9\ta/B.e()V\n"
			       "error\tnothing works\n"
			       "done\n"));
	assert_int_equal(h.found.nr, 1);
	assert_int_equal(h.found.v[0].look, 1);
	assert_str_equal(h.found.v[0].class, "a.Disk");
	assert_str_equal(h.found.v[0].method, "put");
	assert_int_equal(h.calls.nr, 1);
	assert_str_equal(h.calls.v[0].whom.class, "a.Store+");
	assert_int_equal(h.verdicts.nr, 3);
	assert_int_equal(h.verdicts.v[0].why.n, 0);
	assert_str_equal(h.verdicts.v[1].why, "it is too long");
	assert_true(h.verdicts.v[2].why.n > 0);
	assert_str_equal(h.error, "nothing works");
	jvm_heard_done(&h);
}

static void nonsense_is_not_heard(void **state)
{
	struct jvm_heard h = { 0 };

	(void)state;
	jvm_heard_take(&h, STR("found\n\nfound\tx\ta\tb\ncalls\t-1\ta\tb\nwoven\t99999999999\ta\n"
			       "woven\t1"));
	assert_int_equal(h.found.nr + h.calls.nr + h.verdicts.nr, 0);
	jvm_heard_done(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_heard),
		cmocka_unit_test(nonsense_is_not_heard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
