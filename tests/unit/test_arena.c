#include "unit.h"

#include <string.h>

#include "base/arena.h"

static void allocations_are_zeroed_aligned_and_apart(void **state)
{
	struct arena a = { 0 };

	(void)state;
	for (size_t n = 0; n < 3000; n += 7) {
		char *p = arena_alloc(&a, n), *q = arena_alloc(&a, 1);

		assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xff, n);
		assert_int_equal(q[0], 0);
	}
	arena_done(&a);
}

static void reset_gives_zeroed_memory_again(void **state)
{
	struct arena a = { 0 };
	char *p = arena_alloc(&a, 100);

	(void)state;
	memset(p, 1, 100);
	arena_alloc(&a, 1 << 20);
	arena_reset(&a);
	p = arena_alloc(&a, 100);
	assert_int_equal(p[99], 0);
	arena_done(&a);
}

/* Blocks are of 64 KiB: one begun is filled up, though larger things come in between. */
static void large_things_do_not_waste_the_rest_of_a_block(void **state)
{
	struct arena a = { 0 };
	char *first = arena_alloc(&a, 16), *large = arena_alloc(&a, 65 << 10), *next;

	(void)state;
	memset(large, 0xff, 65 << 10);
	next = arena_alloc(&a, 16);
	assert_ptr_equal(next, first + 16);
	assert_int_equal(next[0], 0);
	arena_reset(&a);
	assert_int_equal(*(char *)arena_alloc(&a, 1), 0);
	arena_done(&a);
}

static void texts_are_copied_and_terminated(void **state)
{
	struct arena a = { 0 };
	char text[] = "abc";
	struct str s = arena_str(&a, str_of(text));

	(void)state;
	text[0] = 'x';
	assert_str_equal(s, "abc");
	assert_int_equal(s.p[3], 0);
	assert_str_equal(arena_fmt(&a, "%d-%s", 7, "z"), "7-z");
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allocations_are_zeroed_aligned_and_apart),
		cmocka_unit_test(reset_gives_zeroed_memory_again),
		cmocka_unit_test(large_things_do_not_waste_the_rest_of_a_block),
		cmocka_unit_test(texts_are_copied_and_terminated),
	};

	return RUN(tests);
}
