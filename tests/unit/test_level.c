#include "unit.h"

#include "model/level.h"

static void usual_spellings_are_known(void **state)
{
	(void)state;
	assert_int_equal(level_of(STR("INFO")), LEVEL_INFO);
	assert_int_equal(level_of(STR("warning")), LEVEL_WARN);
	assert_int_equal(level_of(STR("E")), LEVEL_ERROR);
	assert_int_equal(level_of(STR("SEVERE")), LEVEL_ERROR);
	assert_int_equal(level_of(STR("crit")), LEVEL_FATAL);
	assert_int_equal(level_of(STR("DEBUG5")), LEVEL_DEBUG);
	assert_int_equal(level_of(STR("")), LEVEL_NONE);
	assert_int_equal(level_of(STR("information-desk")), LEVEL_NONE);
	assert_string_equal(level_name(LEVEL_WARN), "warn");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_spellings_are_known),
	};

	return RUN(tests);
}
