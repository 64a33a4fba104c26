/* Ids that are split and put together again, and histories. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/baggage/tree.h"

#define NR 1500

static struct point end_of(unsigned depth)
{
	struct point p = { 0 };

	for (unsigned i = 0; i < depth; i++)
		p.bits[i / 8] |= (uint8_t)(0x80 >> i % 8);
	return p;
}

static void who_branches_often_stays_small(void **state)
{
	static struct tree kids[NR];
	struct tree id, sum;
	uint32_t largest = 0;

	(void)state;
	tree_leaf(&id, 1);
	for (unsigned i = 0; i < NR; i++) {
		assert_int_equal(tree_split(&id, &kids[i]), 0);
		largest = kids[i].n > largest ? kids[i].n : largest;
		largest = id.n > largest ? id.n : largest;
	}
	assert_in_range(largest, 3, 250); /* a piece of each half would make 3,001 */
	for (unsigned i = 0; i < NR; i++) {
		assert_int_equal(tree_highest(&sum, &id, &kids[i]), 0);
		tree_done(&id);
		tree_done(&kids[i]);
		id = sum;
	}
	assert_true(tree_is(&id, 1));
}

static void what_went_away_can_come_back(void **state)
{
	struct tree a, b, piece, sum;

	(void)state;
	tree_leaf(&a, 1);
	assert_int_equal(tree_split(&a, &b), 0);
	for (unsigned i = 0; i < 1000; i++) { /* each sends to the other and goes on */
		struct tree *from = i % 2 ? &b : &a, *to = i % 2 ? &a : &b;

		assert_int_equal(tree_split(from, &piece), 0);
		assert_int_equal(tree_highest(&sum, to, &piece), 0);
		tree_done(&piece);
		tree_done(to);
		*to = sum;
		assert_true(a.n < 16 && b.n < 16);
	}
	tree_done(&a);
	tree_done(&b);
}

static void the_first_interval_gets_a_new_number(void **state)
{
	static const uint32_t owned[] = { TREE_INNER, 0, TREE_INNER, 1, 0 };
	static const uint32_t known[] = { TREE_INNER, 7, TREE_INNER, TREE_INNER, 2, 4, 9 };
	static const uint32_t after[] = { TREE_INNER, 7, TREE_INNER, 5, 9 };
	struct tree id = { 0 }, history = { 0 };
	struct point p;
	uint32_t value = 0;

	(void)state;
	assert_int_equal(tree_set(&id, owned, 5), 0);
	assert_int_equal(tree_set(&history, known, 7), 0);
	assert_int_equal(tree_raise(&history, &id, &p, &value), 0);
	assert_int_equal(value, 5);
	assert_int_equal(p.bits[0], 0x80);
	assert_int_equal(history.n, 5);
	assert_memory_equal(tree_at(&history), after, sizeof(after));
	assert_int_equal(tree_value(&history, &p), 5);
	p = end_of(3);
	assert_int_equal(tree_value(&history, &p), 9);
	tree_done(&id);
	tree_leaf(&id, 0);
	assert_int_equal(tree_raise(&history, &id, &p, &value), -ENOENT);
	assert_int_equal(tree_split(&id, &history), -ENOENT);
	tree_done(&history);
}

static void what_is_no_tree_is_refused(void **state)
{
	static uint32_t deep[2 * TREE_DEPTH + 3];
	static const uint32_t open[] = { TREE_INNER, 1 }, more[] = { 1, 1 };
	struct tree t = { 0 };

	(void)state;
	assert_int_equal(tree_set(&t, open, 2), -EBADMSG);
	assert_int_equal(tree_set(&t, open, 1), -EBADMSG);
	assert_int_equal(tree_set(&t, more, 2), -EBADMSG);
	assert_int_equal(tree_set(&t, more, 0), -EBADMSG);
	for (unsigned i = 0; i <= TREE_DEPTH; i++)
		deep[i] = TREE_INNER;
	assert_int_equal(tree_set(&t, deep, 2 * TREE_DEPTH + 3), -EBADMSG);
	assert_int_equal(tree_set(&t, deep + 1, 2 * TREE_DEPTH + 1), 0);
	tree_done(&t);
}

static void what_is_too_deep_is_not_split(void **state)
{
	struct tree id, kid = { 0 };
	unsigned nr = 0;
	int r;

	(void)state;
	tree_leaf(&id, 1);
	while (!(r = tree_split(&id, &kid)) && nr < 10000) { /* always the piece */
		tree_done(&id);
		id = kid;
		nr++;
	}
	assert_int_equal(r, -E2BIG);
	assert_int_equal(nr, TREE_DEPTH);
	assert_int_equal(id.n, 2 * TREE_DEPTH + 1);
	tree_done(&id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_branches_often_stays_small),
		cmocka_unit_test(what_went_away_can_come_back),
		cmocka_unit_test(the_first_interval_gets_a_new_number),
		cmocka_unit_test(what_is_no_tree_is_refused),
		cmocka_unit_test(what_is_too_deep_is_not_split),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
