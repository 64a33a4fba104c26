#include "unit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "base/time.h"

static void civil_times_go_there_and_back(void **state)
{
	(void)state;
	for (int64_t s = -5000000000LL; s < 9000000000LL; s += 86399 * 37 + 11) {
		int64_t ns = s * NS_S + 123456789, again;
		struct civil c;
		time_t t = (time_t)s;
		struct tm tm;

		time_to_civil(ns, &c);
		gmtime_r(&t, &tm);
		assert_int_equal(c.year, tm.tm_year + 1900);
		assert_int_equal(c.month, tm.tm_mon + 1);
		assert_int_equal(c.day, tm.tm_mday);
		assert_int_equal(c.hour, tm.tm_hour);
		assert_int_equal(c.ns, 123456789);
		assert_true(time_of_civil(&c, &again));
		assert_true(again == ns);
	}
}

static void impossible_dates_are_refused(void **state)
{
	static const struct civil bad[] = {
		{ 2023, 2, 29, 0, 0, 0, 0 }, { 2023, 13, 1, 0, 0, 0, 0 },
		{ 2023, 0, 1, 0, 0, 0, 0 },  { 2023, 4, 31, 0, 0, 0, 0 },
		{ 2023, 1, 1, 24, 0, 0, 0 }, { 2023, 1, 1, 0, 60, 0, 0 },
		{ 2023, 1, 1, 0, 0, 61, 0 }, { 9999, 1, 1, 0, 0, 0, 0 },
		{ 1, 1, 1, 0, 0, 0, 0 },
	};
	int64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(time_of_civil(&bad[i], &ns));
}

static void a_local_wall_clock_finds_its_moment(void **state)
{
	struct civil c = { 2024, 7, 1, 12, 0, 0, 0 };
	int64_t wall;

	(void)state;
	setenv("TZ", "Europe/Berlin", 1);
	tzset();
	assert_true(time_of_civil(&c, &wall));
	assert_true(time_from_local(wall) == wall - 2 * 3600 * NS_S ||
		    time_local_offset(wall) == 0);
	setenv("TZ", "UTC", 1);
	tzset();
	assert_true(time_from_local(wall) == wall);
}

static void assert_span(int64_t ns, const char *want)
{
	struct buf b = { 0 };

	time_span_text(&b, ns);
	assert_str_equal(buf_str(&b), want);
	buf_done(&b);
}

static void durations_read_well(void **state)
{
	(void)state;
	assert_span(0, "0 ns");
	assert_span(999, "999 ns");
	assert_span(1000, "1 us");
	assert_span(1500, "1.5 us");
	assert_span(41 * NS_MS, "41 ms");
	assert_span(999999999, "1 s");
	assert_span(1900 * NS_MS, "1.9 s");
	assert_span(200 * NS_S, "3 min 20 s");
	assert_span(-41 * NS_MS, "-41 ms");
	assert_span(8000 * NS_S, "2 h 13 min");
	assert_span(100 * NS_US, "100 us");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(civil_times_go_there_and_back),
		cmocka_unit_test(impossible_dates_are_refused),
		cmocka_unit_test(a_local_wall_clock_finds_its_moment),
		cmocka_unit_test(durations_read_well),
	};

	return RUN(tests);
}
