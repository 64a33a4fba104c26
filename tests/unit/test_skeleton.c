#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/skeleton.h"

static struct skeleton k;

static void of(const char *text, const char *more)
{
	assert_true(skeleton_begin(&k, str_of(text)));
	assert_true(skeleton_add(&k, str_of(more)));
	skeleton_end(&k);
}

static void digits_are_alike_and_nothing_else(void **state)
{
	uint64_t hash;

	(void)state;
	of("blk_1073741825 of /data/1 is 99% done: a:;/9", "");
	assert_str_equal(((struct str){ k.text, k.n }),
			 "blk_0000000000 of /data/0 is 00% done: a:;/0");
	hash = k.hash;
	of("blk_9876543210 of /data/2 is 10% done: a:;/0", "");
	assert_true(k.hash == hash);
	of("blk_9876543210 of /data/2 is 10% done: b:;/0", "");
	assert_false(k.hash == hash);
	of("7", "x7");
	assert_str_equal(((struct str){ k.text, k.n }), "0x7");
}

static void what_is_too_long_has_none(void **state)
{
	char text[SKELETON_BYTES + 1];

	(void)state;
	memset(text, '7', sizeof(text));
	assert_false(skeleton_begin(&k, (struct str){ text, sizeof(text) }));
	assert_true(skeleton_begin(&k, (struct str){ text, SKELETON_BYTES }));
	assert_false(skeleton_add(&k, STR("x")));
	assert_true(skeleton_begin(&k, (struct str){ 0 }));
	assert_int_equal(k.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digits_are_alike_and_nothing_else),
		cmocka_unit_test(what_is_too_long_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
