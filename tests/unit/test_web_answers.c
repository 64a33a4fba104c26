/* Answers that are kept: found again, bounded, the oldest go first. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "web/answers.h"

static bool has(struct answers *a, const char *key, const char *text)
{
	struct buf b = { 0 };
	unsigned status = 0;
	bool found = answers_find(a, str_of(key), &b, &status);

	if (found && text)
		assert_true(str_eq(buf_str(&b), str_of(text)));
	if (found)
		assert_int_equal(status, 200);
	buf_done(&b);
	return found;
}

static void an_answer_is_found_again(void **state)
{
	struct answers *a = answers_new(1 << 16);

	(void)state;
	assert_false(has(a, "requests 1.1", NULL));
	answers_put(a, STR("requests 1.1"), STR("one\n"), 200);
	answers_put(a, STR("requests 1.2"), STR("two\n"), 200);
	assert_true(has(a, "requests 1.1", "one\n"));
	assert_true(has(a, "requests 1.2", "two\n"));
	/* what is there stays: two threads may have worked on the same */
	answers_put(a, STR("requests 1.1"), STR("three\n"), 200);
	assert_true(has(a, "requests 1.1", "one\n"));
	answers_free(a);
}

static void the_bound_holds(void **state)
{
	struct answers *a = answers_new(4000);
	char key[16], *large = calloc(1, 2000);

	(void)state;
	for (int i = 0; i < 100; i++) {
		snprintf(key, sizeof(key), "%d", i);
		answers_put(a, str_of(key), (struct str){ large, 500 }, 200);
		/* asked for all the time: it stays */
		assert_true(has(a, "0", NULL));
	}
	assert_true(has(a, "99", NULL));
	assert_false(has(a, "50", NULL));
	/* one large answer does not push out all others */
	answers_put(a, STR("large"), (struct str){ large, 2000 }, 200);
	assert_false(has(a, "large", NULL));
	assert_true(has(a, "99", NULL));
	answers_free(a);
	free(large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_is_found_again),
		cmocka_unit_test(the_bound_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
