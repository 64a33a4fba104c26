#include "java_truth.h"

static void statements_come_in_the_order_of_the_code(void **state)
{
	(void)state;
	java_holds("Orders.java");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statements_come_in_the_order_of_the_code),
	};

	return RUN(tests);
}
