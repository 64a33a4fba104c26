#include "unit.h"

#include <stdbool.h>
#include <string.h>

#include "model/loss.h"

static void every_loss_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (int i = 0; i < LOSS_NR; i++) {
		enum loss found = LOSS_NR;

		assert_true(strlen(loss_text((enum loss)i)) > 3);
		assert_true(loss_find(loss_name((enum loss)i), &found));
		assert_int_equal(found, i);
	}
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
		cmocka_unit_test(losses_add_up),
	};

	return RUN(tests);
}
