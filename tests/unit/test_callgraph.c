#include "java_truth.h"

static void calls_lead_to_classes_of_which_there_are_objects(void **state)
{
	(void)state;
	java_holds("Calls.java");
}

static void every_way_to_start_work_is_seen(void **state)
{
	(void)state;
	java_holds("Threads.java");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_lead_to_classes_of_which_there_are_objects),
		cmocka_unit_test(every_way_to_start_work_is_seen),
	};

	return RUN(tests);
}
