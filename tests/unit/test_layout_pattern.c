#include "unit.h"

#include <errno.h>
#include <stdio.h>

#include "layout_case.h"

static void check_time(const struct event *ev, const char *want)
{
	char time[40];

	case_time_text(ev->ns, time);
	assert_string_equal(time, want);
}

static void a_log4j_pattern_takes_a_line_apart(void **state)
{
	struct layout_case c =
		case_compile("%d{ISO8601} %-5p [%t] %c{1.}: %m%n",
			     STR("2024-01-02 03:04:05,678 WARN  [a [b] c] o.a.Disk: slow: very\n"
				 "2024-01-02T03:04:06,678 ERROR [main] o.a.Disk: gone\n\tat x\n"));

	(void)state;
	assert_int_equal(c.nr_events, 2);
	check_time(&c.events[0], "2024-01-02 03:04:05.678000000");
	assert_int_equal(c.events[0].level, LEVEL_WARN);
	assert_str_equal(c.events[0].thread, "a [b] c");
	assert_str_equal(c.events[0].point, "o.a.Disk");
	check_time(&c.events[1], "2024-01-02 03:04:06.678000000");
	assert_int_equal(c.losses.count[LOSS_LINES_BROKEN], 0);
	case_done(&c);
}

static void spring_boots_own_pattern_compiles(void **state)
{
	struct layout_case c = case_compile(
		"%clr(%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX}){faint} %clr(${LOG_LEVEL_PATTERN:-%5p}) "
		"%clr(${PID:- }){magenta} %clr(---){faint} %clr([%15.15t]){faint} "
		"%clr(%-40.40logger{39}){cyan} %clr(:){faint} %m%n${LOG_EXCEPTION:-%wEx}",
		STR("2024-01-02T03:04:05.678+01:00  INFO 77 --- [           main] a.b.App        : "
		    "up\n"));

	(void)state;
	assert_int_equal(c.r, 0);
	assert_int_equal(c.nr_events, 1);
	check_time(&c.events[0], "2024-01-02 02:04:05.678000000");
	assert_int_equal(c.events[0].level, LEVEL_INFO);
	assert_str_equal(c.events[0].thread, "main");
	assert_str_equal(c.events[0].point, "a.b.App");
	case_done(&c);
}

static void ids_of_the_mdc_name_the_request(void **state)
{
	struct layout_case c = case_compile(
		"%date{HH:mm:ss.SSS} %highlight{%level}{FATAL=red} [%X{traceId:-},%mdc{spanId}] "
		"%cyan(%logger) - %msg",
		STR("03:04:05.678 INFO [4bf92f3577b34da6,00f067aa0ba902b7] a.B - paid 7\n"));

	(void)state;
	assert_int_equal(c.r, 0);
	assert_int_equal(c.nr_events, 1);
	assert_int_equal(c.events[0].key_kind, KEY_TRACE);
	assert_str_equal(c.events[0].key, "4bf92f3577b34da6");
	assert_str_equal(c.events[0].span, "00f067aa0ba902b7");
	assert_str_equal(c.events[0].point, "a.B");
	assert_true(c.events[0].title.n > 0);
	case_done(&c);
}

static void named_dates_and_short_levels_are_known(void **state)
{
	struct layout_case c = case_compile("%.1p %d{UNIX_MILLIS} %F:%L %M - %m",
					    STR("W 1704164645678 Disk.java:12 read - slow\n"));

	(void)state;
	check_time(&c.events[0], "2024-01-02 03:04:05.678000000");
	assert_int_equal(c.events[0].level, LEVEL_WARN);
	assert_str_equal(c.events[0].point, "Disk.java:12");
	case_done(&c);
	c = case_compile("%d{DATE} %p %m", STR("02 Jan 2024 03:04:05,678 INFO x\n"));
	check_time(&c.events[0], "2024-01-02 03:04:05.678000000");
	case_done(&c);
	c = case_compile("%d{ABSOLUTE} %p %m", STR("03:04:05,678 INFO x\n"));
	check_time(&c.events[0], "2024-06-01 03:04:05.678000000");
	case_done(&c);
}

static void lines_that_differ_behind_the_time_are_kept_and_counted(void **state)
{
	struct layout_case c = case_compile("%d %p [%t] %c: %m",
					    STR("2024-01-02 03:04:05,678 INFO no thread here\n"));

	(void)state;
	assert_int_equal(c.nr_events, 1);
	assert_int_equal(c.losses.count[LOSS_LINES_BROKEN], 1);
	case_done(&c);
}

static void patterns_without_sense_are_explained(void **state)
{
	static const struct {
		const char *pattern, *says;
	} bad[] = {
		{ "%d{QQQ} %m", "date format" }, { "%wrong %m", "unknown word" },
		{ "%clr(%p %m", "not closed" },  { "hello", "neither a time nor a message" },
		{ "", "neither a time" },        { "${abc %m", "not closed" },
		{ "%", "unknown word" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct layout_case c = case_compile(bad[i].pattern, STR(""));

		assert_int_equal(c.r, -EINVAL);
		if (!strstr(c.err.msg, bad[i].says))
			fail_msg("'%s' for '%s'", c.err.msg, bad[i].pattern);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_log4j_pattern_takes_a_line_apart),
		cmocka_unit_test(spring_boots_own_pattern_compiles),
		cmocka_unit_test(ids_of_the_mdc_name_the_request),
		cmocka_unit_test(named_dates_and_short_levels_are_known),
		cmocka_unit_test(lines_that_differ_behind_the_time_are_kept_and_counted),
		cmocka_unit_test(patterns_without_sense_are_explained),
	};

	return RUN(tests);
}
