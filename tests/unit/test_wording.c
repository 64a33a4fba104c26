#include "java_truth.h"

/* The rules hold as today's javac writes them, as older ones did, and with the libraries given. */
static void holds(const char *file)
{
	static const struct {
		const char *jar, *beside;
	} ways[] = { { "rules", NULL }, { "rules8", NULL }, { "rules", "stubs" } };
	unsigned lies = 0;

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		struct java j;
		unsigned here;

		java_open(&j, ways[i].jar, ways[i].beside, 1);
		here = java_lies(&j, "rules", file);
		if (here)
			print_error("in %s.jar%s\n", ways[i].jar,
				    ways[i].beside ? " with stubs" : "");
		lies += here;
		java_close(&j);
	}
	assert_int_equal(lies, 0);
}

#define HOLDS(name, file) \
	static void name(void **state) \
	{ \
		(void)state; \
		holds(file); \
	}

HOLDS(concatenated_values_are_holes_of_their_type, "Concat.java")
HOLDS(builders_are_read_as_they_were_filled, "Builders.java")
HOLDS(formats_take_their_arguments, "Formats.java")
HOLDS(objects_are_printed_by_their_own_fields, "Printed.java")
HOLDS(branches_give_several_texts, "Choices.java")
HOLDS(helpers_are_followed_into_and_out_of, "Helpers.java")
HOLDS(constants_are_looked_up_where_they_stand, "Constants.java")

static void records_and_new_switches_are_read(void **state)
{
	struct java j;
	unsigned lies;

	(void)state;
	java_open(&j, "modern", NULL, 1);
	lies = java_lies(&j, "modern", "Modern.java");
	java_close(&j);
	assert_int_equal(lies, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(concatenated_values_are_holes_of_their_type),
		cmocka_unit_test(builders_are_read_as_they_were_filled),
		cmocka_unit_test(formats_take_their_arguments),
		cmocka_unit_test(objects_are_printed_by_their_own_fields),
		cmocka_unit_test(branches_give_several_texts),
		cmocka_unit_test(helpers_are_followed_into_and_out_of),
		cmocka_unit_test(constants_are_looked_up_where_they_stand),
		cmocka_unit_test(records_and_new_switches_are_read),
	};

	return RUN(tests);
}
