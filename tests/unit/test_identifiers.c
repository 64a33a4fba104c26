#include "java_truth.h"

static void the_example_of_the_paper_comes_out_as_in_the_paper(void **state)
{
	(void)state;
	java_holds("Xceiver.java");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example_of_the_paper_comes_out_as_in_the_paper),
	};

	return RUN(tests);
}
