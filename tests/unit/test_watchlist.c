#include "unit.h"

#include <stdlib.h>

#include "base/error.h"
#include "cli/variance_watchlist.h"
#include "program/functions.h"

#define MS 1000000.0

struct list {
	struct functions functions;
	struct watchlist w;
};

/* The first functions of the sample, watched. */
static void watch_some(struct list *l, uint32_t nr)
{
	const char *path = getenv("CULPRIT_SAMPLE");
	struct error err = { 0 };

	if (!path)
		skip();
	*l = (struct list){ 0 };
	if (functions_of_file(&l->functions, path, &err) < 0)
		fail_msg("%s", err.msg);
	assert_true(l->functions.v.nr >= nr);
	l->w.functions = &l->functions;
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t number = watchlist_add(&l->w, i, ROLE_NONE, 0);

		l->w.v.v[number].is_on = true;
	}
}

static void done(struct list *l)
{
	watchlist_done(&l->w);
	functions_done(&l->functions);
}

/* Calls of one function, all as long. */
static void call(struct list *l, uint32_t number, uint64_t times, double ns)
{
	l->w.v.v[number].nr_calls += times;
	l->w.v.v[number].squares += (double)times * ns * ns;
}

static void what_fits_is_left_alone(void **state)
{
	struct list l;
	uint32_t out[8];

	(void)state;
	watch_some(&l, 3);
	for (uint32_t i = 0; i < 3; i++)
		call(&l, i, 1000, 100);
	/* 3000 calls of 100 ns in 100 ms: 0.3 % */
	assert_int_equal(watchlist_cool(&l.w, 0.05, 100, 100000000, out, 8), 0);
	assert_int_equal(watchlist_nr_on(&l.w), 3);
	done(&l);
}

static void short_calls_go_before_long_ones(void **state)
{
	struct list l;
	uint32_t out[8];

	(void)state;
	watch_some(&l, 3);
	call(&l, 0, 100000, MS);
	call(&l, 1, 100000, 30);
	call(&l, 2, 10, 10);
	/* 20 ms of 100: one of the two must go, and the one with few calls helps nobody */
	assert_int_equal(watchlist_cool(&l.w, 0.15, 100, 100000000, out, 8), 1);
	assert_int_equal(out[0], 1);
	assert_int_equal(l.w.v.v[1].out, WATCH_HOT);
	assert_false(l.w.v.v[1].is_on);
	assert_true(l.w.v.v[0].is_on && l.w.v.v[2].is_on);
	done(&l);
}

static void what_tells_the_interval_stays(void **state)
{
	struct list l;
	uint32_t out[8];

	(void)state;
	watch_some(&l, 2);
	l.w.v.v[0].role = ROLE_WHOLE;
	call(&l, 0, 1000000, 10);
	call(&l, 1, 1000, 10);
	/* nothing that may go is enough: all that may go goes */
	assert_int_equal(watchlist_cool(&l.w, 0.01, 100, 100000000, out, 8), 1);
	assert_int_equal(out[0], 1);
	assert_true(l.w.v.v[0].is_on);
	done(&l);
}

static void only_calls_since_the_last_look_count(void **state)
{
	struct list l;
	uint32_t out[8];

	(void)state;
	watch_some(&l, 2);
	call(&l, 0, 100000, 10);
	assert_int_equal(watchlist_cool(&l.w, 0.5, 100, 100000000, out, 8), 0);
	call(&l, 1, 10, 10);
	/* the 100,000 are of before */
	assert_int_equal(watchlist_cool(&l.w, 0.05, 100, 100000000, out, 8), 0);
	call(&l, 0, 100000, 10);
	assert_int_equal(watchlist_cool(&l.w, 0.05, 100, 100000000, out, 8), 1);
	assert_int_equal(out[0], 0);
	done(&l);
}

static void no_more_go_at_once_than_there_is_room_for(void **state)
{
	struct list l;
	uint32_t out[2];

	(void)state;
	watch_some(&l, 4);
	for (uint32_t i = 0; i < 4; i++)
		call(&l, i, 100000, 10);
	assert_int_equal(watchlist_cool(&l.w, 0.001, 100, 100000000, out, 2), 2);
	assert_int_equal(watchlist_nr_on(&l.w), 2);
	done(&l);
}

/* One that calls others by pointers is looked at again while it varies, a bounded number of times.
 */
static void looking_again_ends(void **state)
{
	struct list l;
	struct str name;
	int nr = 0;

	(void)state;
	watch_some(&l, 2);
	name = l.w.roles.v[1].name;
	assert_int_equal(watchlist_find_leaf(&l.w, name), 1);
	assert_int_equal(watchlist_find_unclear(&l.w, name, 0), UINT32_MAX);
	l.w.v.v[1].is_expanded = l.w.v.v[1].is_indirect = true;
	assert_int_equal(watchlist_find_leaf(&l.w, name), UINT32_MAX);
	assert_int_equal(watchlist_find_unclear(&l.w, name, 2), UINT32_MAX);
	for (; watchlist_find_unclear(&l.w, name, 0) == 1 && nr < 100; nr++)
		l.w.v.v[1].nr_looks++;
	assert_int_equal(nr, 8);
	done(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_is_left_alone),
		cmocka_unit_test(short_calls_go_before_long_ones),
		cmocka_unit_test(what_tells_the_interval_stays),
		cmocka_unit_test(only_calls_since_the_last_look_count),
		cmocka_unit_test(no_more_go_at_once_than_there_is_room_for),
		cmocka_unit_test(looking_again_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
