#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/parts.h"

static void parts_come_back_as_they_went(void **state)
{
	const struct part_of v[] = {
		{ .parent = UINT32_MAX, .name = STR(""), .ns = INT64_MAX, .nr_calls = 1 },
		{ .parent = 0, .name = STR("lock_book"), .ns = 77, .nr_calls = 3, .site = 9 },
		{ .parent = 1, .name = STR("wait:cpu"), .ns = 0 },
	};
	struct buf packed = { 0 };
	struct str left;
	struct part_of p;

	(void)state;
	for (int i = 0; i < 3; i++) {
		p = v[i];
		p.wait_ns[WAIT_LOCK] = 50 * i;
		p.wait_ns[WAIT_OTHER] = i == 1;
		p.nr_works = (uint32_t)i;
		p.works[0] = (struct part_work){ STR("rows"), 1e6 + i };
		p.works[1] = (struct part_work){ STR("sort(arg1)"), -0.5 };
		parts_add(&packed, &p);
	}
	left = buf_str(&packed);
	for (int i = 0; i < 3; i++) {
		assert_true(parts_take(&left, &p));
		assert_int_equal(p.parent, v[i].parent);
		assert_true(str_eq(p.name, v[i].name));
		assert_int_equal(p.ns, v[i].ns);
		assert_int_equal(p.nr_calls, v[i].nr_calls);
		assert_int_equal(p.site, v[i].site);
		assert_int_equal(p.wait_ns[WAIT_LOCK], 50 * i);
		assert_int_equal(p.wait_ns[WAIT_OTHER], i == 1);
		assert_int_equal(p.nr_works, i);
		assert_true(i < 1 ||
			    (str_eq(p.works[0].name, STR("rows")) && p.works[0].amount == 1e6 + i));
		assert_true(i < 2 || (str_eq(p.works[1].name, STR("sort(arg1)")) &&
				      p.works[1].amount == -0.5));
	}
	assert_false(parts_take(&left, &p));
	/* cut anywhere, what is there is whole */
	for (size_t n = 0; n < packed.n; n++) {
		int nr = 0;

		left = str_head(buf_str(&packed), n);
		while (parts_take(&left, &p))
			nr++;
		assert_true(nr < 3);
	}
	buf_done(&packed);
}

static void damaged_bytes_are_refused(void **state)
{
	struct part_of p;
	struct str all = STR("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
		   waits = STR("\x00\x01x\x05\x01\x00\xff\x7f"),
		   works = STR("\x00\x01x\x05\x01\x00\x00\x09"),
		   not_a_number =
			   STR("\x00\x01x\x05\x01\x00\x00\x01\x01r\xff\xff\xff\xff\xff\xff\xff\x7f"
			       "\x00\x01x\x05\x01\x00\x00\x00");

	(void)state;
	assert_false(parts_take(&all, &p));
	assert_false(parts_take(&waits, &p));
	assert_false(parts_take(&works, &p));
	assert_false(parts_take(&not_a_number, &p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_come_back_as_they_went),
		cmocka_unit_test(damaged_bytes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
