#include "unit.h"

#include "base/buf.h"
#include "capture/weave/said.h"

static void assert_folded(const char *from, const char *to)
{
	struct buf b = { 0 };

	buf_add(&b, str_of(from));
	said_fold(&b);
	buf_char(&b, 0);
	assert_string_equal(b.p, to);
	buf_done(&b);
}

static void what_is_said_of_several_processes_is_said_once(void **state)
{
	(void)state;
	assert_folded("process 11: no method a.B.c is loaded yet\n"
		      "process 11: no method a.B.d is loaded yet\n"
		      "process 12: no method a.B.c is loaded yet\n"
		      "process 7: no method a.B.c is loaded yet\n"
		      "process 7: a.B.e is left as it is: it has no code\n",
		      "processes 11, 12, 7: no method a.B.c is loaded yet\n"
		      "process 11: no method a.B.d is loaded yet\n"
		      "process 7: a.B.e is left as it is: it has no code\n");
}

static void what_is_said_of_no_process_stays_each_time(void **state)
{
	(void)state;
	assert_folded("", "");
	assert_folded(
		"host is ambiguous\nprocess x: y\nprocess 5: y\nhost is ambiguous\nprocess 6 : y",
		"host is ambiguous\nprocess x: y\nprocess 5: y\nhost is ambiguous\nprocess 6 : "
		"y\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_said_of_several_processes_is_said_once),
		cmocka_unit_test(what_is_said_of_no_process_stays_each_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
