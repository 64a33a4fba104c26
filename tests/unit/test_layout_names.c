#include "unit.h"

#include <stdio.h>

#include "source/layout_names.h"

static struct layout_names names;

static int forget(void **state)
{
	(void)state;
	memset(&names, 0, sizeof(names));
	return 0;
}

static void same_as_unremembered(struct str name)
{
	uint8_t rank = 77, expected_rank = 77;
	enum layout_meaning expected = layout_meaning_of(name, &expected_rank);

	assert_int_equal(layout_names_find(&names, name, &rank), expected);
	assert_int_equal(rank, expected_rank);
}

static void a_name_means_the_same_the_second_time(void **state)
{
	static const char *const some[] = { "trace_id", "traceId",  "ts",      "msg",  "t",
					    "nothing",  "duration", "user.id", "time", "" };

	(void)state;
	for (int round = 0; round < 3; round++)
		for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++)
			same_as_unremembered(str_of(some[i]));
}

static void names_that_differ_in_the_middle_only_are_told_apart(void **state)
{
	(void)state;
	for (int round = 0; round < 2; round++) {
		same_as_unremembered(STR("duration-----milliseconds"));
		same_as_unremembered(STR("duration--x--milliseconds"));
		same_as_unremembered(STR("duration-_-_-milliseconds"));
	}
}

static void more_names_than_places_push_each_other_out(void **state)
{
	char name[32];

	(void)state;
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 2000; i++) {
			int n = snprintf(name, sizeof(name), i % 3 ? "key%d" : "level%d", i);

			same_as_unremembered((struct str){ name, (size_t)n });
			same_as_unremembered(STR("level"));
		}
}

static void long_names_are_looked_up_each_time(void **state)
{
	struct str name = STR("t______________________r____________________ace_id");

	(void)state;
	assert_true(name.n > LAYOUT_NAME_BYTES);
	same_as_unremembered(name);
	same_as_unremembered(name);
	same_as_unremembered(str_head(name, LAYOUT_NAME_BYTES));
	same_as_unremembered(str_head(name, LAYOUT_NAME_BYTES));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_name_means_the_same_the_second_time, forget),
		cmocka_unit_test_setup(names_that_differ_in_the_middle_only_are_told_apart, forget),
		cmocka_unit_test_setup(more_names_than_places_push_each_other_out, forget),
		cmocka_unit_test_setup(long_names_are_looked_up_each_time, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
