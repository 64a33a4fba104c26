#include "unit.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

static void prefix_keeps_the_code_and_the_cause(void **state)
{
	struct error err = { 0 };

	(void)state;
	error_set(&err, EINVAL, "bad timestamp");
	assert_int_equal(error_prefix(&err, "%s:%d", "node3.log", 88), -EINVAL);
	assert_string_equal(err.msg, "node3.log:88: bad timestamp");
}

static void a_long_message_is_cut_not_overrun(void **state)
{
	struct error err = { 0 };
	char big[2000];

	(void)state;
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = 0;
	assert_int_equal(error_set(&err, ENOENT, "%s", big), -ENOENT);
	assert_int_equal(error_prefix(&err, "%s", big), -ENOENT);
	assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
}

static void a_failure_without_a_place_to_describe_it_still_has_its_code(void **state)
{
	(void)state;
	assert_int_equal(error_set(NULL, EIO, "x"), -EIO);
	assert_int_equal(error_set(NULL, 0, "x"), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prefix_keeps_the_code_and_the_cause),
		cmocka_unit_test(a_long_message_is_cut_not_overrun),
		cmocka_unit_test(a_failure_without_a_place_to_describe_it_still_has_its_code),
	};

	return RUN(tests);
}
