/* What every unit test includes first: cmocka needs these four headers in front of its own. */
#ifndef CULPRIT_TESTS_UNIT_H
#define CULPRIT_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"

#define assert_str_equal(got, want) \
	do { \
		struct str got_ = (got), want_ = str_of(want); \
		if (!str_eq(got_, want_)) \
			fail_msg("'%.*s' is not '%s'", (int)got_.n, got_.p, want_.p); \
	} while (0)

#define RUN(tests) cmocka_run_group_tests(tests, NULL, NULL)

#endif
