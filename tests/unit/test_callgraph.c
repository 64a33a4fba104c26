#include "java_truth.h"

/* As today's javac writes them and as older ones did. */
static void holds(const char *file)
{
	static const char *const jars[] = { "rules", "rules8" };
	unsigned lies = 0;

	for (size_t i = 0; i < 2; i++) {
		struct java j;

		java_open(&j, jars[i], NULL, 1);
		lies += java_lies(&j, "rules", file);
		java_close(&j);
	}
	assert_int_equal(lies, 0);
}

static void calls_lead_to_classes_of_which_there_are_objects(void **state)
{
	(void)state;
	holds("Calls.java");
}

static void every_way_to_start_work_is_seen(void **state)
{
	(void)state;
	holds("Threads.java");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_lead_to_classes_of_which_there_are_objects),
		cmocka_unit_test(every_way_to_start_work_is_seen),
	};

	return RUN(tests);
}
