#include "unit.h"

#include "ask/series.h"
#include "ask/stats.h"
#include "base/time.h"

#define NR 400

/* Latencies around 10 ms with noise, one every 100 ms; slow from..until. */
static void make_timings(struct timing *t, size_t nr, size_t from, size_t until)
{
	struct dice dice = { 42 };

	for (size_t i = 0; i < nr; i++) {
		t[i] = (struct timing){ .start = (int64_t)i * 100 * NS_MS,
					.duration =
						8 * NS_MS + (int64_t)dice_below(&dice, 4 * NS_MS),
					.id = i + 1 };
		if (i >= from && i < until)
			t[i].duration *= 5;
	}
}

static void steps_hold_every_request_once(void **state)
{
	struct timing t[NR];
	struct arena arena = { 0 };
	struct series s;
	uint64_t count = 0;

	(void)state;
	make_timings(t, NR, 100, 200);
	t[7].error = true;
	series_make(t, NR, t[0].start, t[NR - 1].start, 20, &arena, &s);
	assert_int_equal(s.width, 2 * NS_S);
	for (size_t i = 0; i < s.nr; i++) {
		assert_int_equal(s.v[i].end - s.v[i].start, s.width);
		count += s.v[i].count;
	}
	assert_int_equal(count, NR);
	assert_int_equal(s.v[0].errors, 1);
	assert_true(s.v[0].p50 < 12 * NS_MS && s.v[6].p50 > 39 * NS_MS);
	assert_true(s.v[0].p50 <= s.v[0].p90 && s.v[0].p90 <= s.v[0].max);
	arena_done(&arena);
}

static void widths_are_round_and_few(void **state)
{
	(void)state;
	assert_int_equal(series_width(24 * NS_S, 50), NS_S / 2);
	assert_int_equal(series_width(3600 * NS_S, 40), 120 * NS_S);
	assert_int_equal(series_width(0, 40), 1);
	assert_true(series_width(INT64_MAX, 40) > INT64_MAX / 40);
}

static void extreme_times_do_not_break_the_steps(void **state)
{
	struct timing t[] = { { .start = INT64_MIN + 1 },
			      { .start = 0 },
			      { .start = INT64_MAX - 1 } };
	struct arena arena = { 0 };
	struct series s;
	uint64_t count = 0;

	(void)state;
	series_make(t, 3, t[0].start, t[2].start, 10, &arena, &s);
	for (size_t i = 0; i < s.nr; i++)
		count += s.v[i].count;
	assert_int_equal(count, 3);
	arena_done(&arena);
}

static void a_slow_stretch_is_found_with_its_begin_and_end(void **state)
{
	struct timing t[NR];
	struct arena arena = { 0 };
	struct episode e;

	(void)state;
	make_timings(t, NR, 150, 200);
	series_episode(t, NR, &arena, &e);
	assert_true(e.found);
	assert_int_equal(e.begin, t[150].start);
	assert_int_equal(e.end, t[199].start);
	assert_false(e.from_first);
	assert_false(e.to_last);
	assert_true(e.mean_in > 4 * e.mean_out);
	arena_done(&arena);
}

static void a_change_that_stays_reaches_the_last(void **state)
{
	struct timing t[NR];
	struct arena arena = { 0 };
	struct episode e;

	(void)state;
	make_timings(t, NR, 300, NR);
	series_episode(t, NR, &arena, &e);
	assert_true(e.found && e.to_last && !e.from_first);
	assert_int_equal(e.begin, t[300].start);
	arena_done(&arena);
}

static void noise_has_no_episode(void **state)
{
	struct timing t[NR];
	struct arena arena = { 0 };
	struct episode e;

	(void)state;
	make_timings(t, NR, 0, 0);
	series_episode(t, NR, &arena, &e);
	assert_false(e.found);
	arena_done(&arena);
}

static void scattered_slow_ones_are_no_episode(void **state)
{
	struct timing t[NR];
	struct arena arena = { 0 };
	struct dice dice = { 5 };
	struct episode e;

	(void)state;
	make_timings(t, NR, 0, 0);
	for (int i = 0; i < 20; i++)
		t[dice_below(&dice, NR)].duration *= 20;
	series_episode(t, NR, &arena, &e);
	assert_false(e.found);
	arena_done(&arena);
}

static void few_requests_prove_no_change(void **state)
{
	struct timing t[8];
	struct arena arena = { 0 };
	struct episode e;

	(void)state;
	make_timings(t, 8, 4, 8);
	series_episode(t, 8, &arena, &e);
	assert_false(e.found);
	arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_hold_every_request_once),
		cmocka_unit_test(widths_are_round_and_few),
		cmocka_unit_test(extreme_times_do_not_break_the_steps),
		cmocka_unit_test(a_slow_stretch_is_found_with_its_begin_and_end),
		cmocka_unit_test(a_change_that_stays_reaches_the_last),
		cmocka_unit_test(noise_has_no_episode),
		cmocka_unit_test(scattered_slow_ones_are_no_episode),
		cmocka_unit_test(few_requests_prove_no_change),
	};

	return RUN(tests);
}
