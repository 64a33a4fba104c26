#include "java_truth.h"

static void holds(const char *file, const char *beside)
{
	struct java j;
	unsigned lies;

	java_open(&j, "rules", beside, 1);
	lies = java_lies(&j, "rules", file);
	java_close(&j);
	assert_int_equal(lies, 0);
}

/* Whether the logging library itself is part of what was given must not matter. */
#define HOLDS(name, file) \
	static void name(void **state) \
	{ \
		(void)state; \
		holds(file, NULL); \
		holds(file, "stubs"); \
	}

HOLDS(slf4j_is_known, "Slf4j.java")
HOLDS(log4j_1_is_known, "Log4j1.java")
HOLDS(log4j_2_is_known, "Log4j2.java")
HOLDS(commons_logging_and_aliases_are_known, "CommonsLogging.java")
HOLDS(java_util_logging_is_known, "Jul.java")
HOLDS(loggers_of_no_list_are_known_by_shape, "OtherLoggers.java")
HOLDS(statements_stand_in_lambdas_and_initializers, "Lambdas.java")
HOLDS(texts_of_scala_are_understood, "Scala.java")

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slf4j_is_known),
		cmocka_unit_test(log4j_1_is_known),
		cmocka_unit_test(log4j_2_is_known),
		cmocka_unit_test(commons_logging_and_aliases_are_known),
		cmocka_unit_test(java_util_logging_is_known),
		cmocka_unit_test(loggers_of_no_list_are_known_by_shape),
		cmocka_unit_test(statements_stand_in_lambdas_and_initializers),
		cmocka_unit_test(texts_of_scala_are_understood),
	};

	return RUN(tests);
}
