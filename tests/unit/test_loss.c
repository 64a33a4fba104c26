#include "unit.h"

#include <stdbool.h>
#include <string.h>

#include "model/loss.h"

static void every_loss_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (int i = 0; i < LOSS_NR; i++) {
		enum loss found = LOSS_NR;

		assert_true(strlen(loss_text((enum loss)i, 1)) > 3);
		assert_string_not_equal(loss_text((enum loss)i, 1), loss_text((enum loss)i, 2));
		assert_true(loss_find(loss_name((enum loss)i), &found));
		assert_int_equal(found, i);
	}
}

static void one_loss_is_told_as_one(void **state)
{
	(void)state;
	assert_string_equal(loss_text(LOSS_CALLS_OPEN, 1), "call without a return");
	assert_string_equal(loss_text(LOSS_CALLS_OPEN, 2), "calls without a return");
	assert_string_equal(loss_text(LOSS_CALLS_OPEN, 0), "calls without a return");
}

static void losses_add_up(void **state)
{
	struct losses a = { 0 }, b = { 0 };
	enum loss none;

	(void)state;
	a.count[LOSS_LINES_CUT] = 2;
	b.count[LOSS_LINES_CUT] = 3;
	losses_add(&a, &b);
	assert_int_equal(a.count[LOSS_LINES_CUT], 5);
	assert_false(loss_find("nothing_of_the_kind", &none));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_loss_has_a_name_of_its_own),
		cmocka_unit_test(one_loss_is_told_as_one),
		cmocka_unit_test(losses_add_up),
	};

	return RUN(tests);
}
