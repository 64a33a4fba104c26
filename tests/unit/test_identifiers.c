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

static void the_example_of_the_paper_comes_out_as_in_the_paper(void **state)
{
	(void)state;
	holds("Xceiver.java");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example_of_the_paper_comes_out_as_in_the_paper),
	};

	return RUN(tests);
}
