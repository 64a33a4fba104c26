#include "unit.h"

#include "ask/own.h"

static struct span span(int64_t start, int64_t end, uint32_t parent)
{
	return (struct span){ .start = start, .end = end, .parent = parent };
}

static void time_in_which_no_call_is_under_way_is_own(void **state)
{
	struct span spans[] = {
		span(0, 100, SPAN_NONE),
		span(10, 30, 0),
		span(50, 70, 0),
		span(55, 60, 2),
	};
	struct request_body b = { .spans = spans, .nr_spans = 4 };
	struct arena arena = { 0 };
	const int64_t *own = own_times(&b, &arena);

	(void)state;
	assert_int_equal(own[0], 60);
	assert_int_equal(own[1], 20);
	assert_int_equal(own[2], 15);
	assert_int_equal(own[3], 5);
	arena_done(&arena);
}

static void calls_side_by_side_are_not_taken_twice(void **state)
{
	/* out of order, one inside another, one up to the end */
	struct span spans[] = {
		span(0, 100, SPAN_NONE), span(60, 100, 0), span(10, 50, 0),
		span(20, 30, 0),         span(40, 55, 0),
	};
	struct request_body b = { .spans = spans, .nr_spans = 5 };
	struct arena arena = { 0 };

	(void)state;
	assert_int_equal(own_times(&b, &arena)[0], 15);
	arena_done(&arena);
}

static void what_lies_outside_or_is_not_waited_for_takes_nothing(void **state)
{
	struct span spans[] = {
		span(0, 100, SPAN_NONE), span(-20, 10, 0), span(90, 300, 0),
		span(400, 500, 0),       span(20, 30, 0),  span(50, 40, 0),
	};
	struct request_body b = { .spans = spans, .nr_spans = 6 };
	struct arena arena = { 0 };
	const int64_t *own;

	(void)state;
	spans[4].follows = true;
	own = own_times(&b, &arena);
	assert_int_equal(own[0], 80);
	assert_int_equal(own[4], 10);
	assert_int_equal(own[5], 0); /* it ends before it starts */
	arena_done(&arena);
}

static void the_largest_times_do_not_overflow(void **state)
{
	struct span spans[] = {
		span(INT64_MIN, INT64_MAX, SPAN_NONE),
		span(INT64_MIN, INT64_MAX, 0),
		span(INT64_MAX, INT64_MIN, 1),
	};
	struct request_body none = { 0 }, b = { .spans = spans, .nr_spans = 3 };
	struct arena arena = { 0 };
	const int64_t *own = own_times(&b, &arena);

	(void)state;
	assert_int_equal(own[0], 0);
	assert_int_equal(own[1], INT64_MAX);
	assert_non_null(own_times(&none, &arena));
	arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_in_which_no_call_is_under_way_is_own),
		cmocka_unit_test(calls_side_by_side_are_not_taken_twice),
		cmocka_unit_test(what_lies_outside_or_is_not_waited_for_takes_nothing),
		cmocka_unit_test(the_largest_times_do_not_overflow),
	};

	return RUN(tests);
}
