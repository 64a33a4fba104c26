#include "unit.h"

#include <string.h>

#include "live_answers.h"
#include "report/pivot.h"
#include "report/report.h"
#include "report/writer.h"

static const struct live_answer cells = LIVE_ANSWER(live_cells);
static const struct live_answer by_host = LIVE_ANSWER(live_by_host);
static const struct live_answer by_program = LIVE_ANSWER(live_by_program);
static const struct live_answer all = LIVE_ANSWER(live_all);

static void assert_text(struct report *r, const char *want)
{
	const struct text_style style = { .columns = 100 };
	struct buf out = { 0 };

	report_write_text(r, &style, &out);
	assert_str_equal(buf_str(&out), want);
	buf_done(&out);
	report_done(r);
}

static void a_list_shows_each_number_over_time(void **state)
{
	struct report r;

	(void)state;
	report_init(&r);
	pivot_list(&cells, &r);
	assert_text(&r,
		    "  e.host  cl.procName  SUM(e.delta)  over time  AVERAGE(e.took)  over time\n"
		    "  a       scan                   15  █ ▄                      2  ▅ █\n"
		    "  a       sort                    3  ███                      4  ███\n"
		    "  b       scan                    7   █                       3   █\n");
}

/* The empty powers of two between 2 and 8 are bars, too. */
static void a_histogram_is_its_range_and_bars(void **state)
{
	static const struct live_column columns[] = { { .name = { "h", 1 } } };
	static const struct live_bucket buckets[] = {
		{ -4, -2, 2 }, { 0, 0, 4 }, { 1, 2, 4 }, { 8, 16, 1 }
	};
	static const struct live_value value = { LIVE_BUCKETS, { .buckets = { buckets, 4, 30 } } };
	static const double series[] = { NAN };
	static const struct live_row row = { &value, series };
	const struct live_answer a = {
		.columns = columns, .nr_columns = 1, .rows = &row, .nr_rows = 1, .nr_steps = 1
	};
	struct report r;

	(void)state;
	report_init(&r);
	pivot_list(&a, &r);
	assert_text(&r, "         h  low to high\n"
			"  -4 to 16  ▄██▁▁▂\n");
}

static void a_pivot_has_totals_at_its_right_and_foot(void **state)
{
	const struct pivot p = { &cells, &by_host, &by_program, &all, LIVE_PROGRAM, LIVE_SUM, 0 };
	struct report r;

	(void)state;
	report_init(&r);
	pivot_report(&p, &r);
	assert_text(&r, "  SUM(e.delta)\n"
			"  e.host  scan  over time  sort  over time  all  over time\n"
			"  a         15  █ ▄           3  ███         18  █▁▅\n"
			"  b          7   █            -  -            7   █\n"
			"  all       22  █▆▄           3  ███         25  █▆▅\n");
}

static void values_without_a_column_are_told(void **state)
{
	const struct pivot p = { &cells, &by_host, &by_program, &all, LIVE_PROGRAM, LIVE_SUM, 1 };
	struct report r;

	(void)state;
	report_init(&r);
	pivot_report(&p, &r);
	assert_text(&r, "  SUM(e.delta)\n"
			"  e.host  scan  over time  all  over time\n"
			"  a         15  █ ▄         18  █▁▅\n"
			"  b          7   █           7   █\n"
			"  all       22  █▆▄         25  █▆▅\n"
			"\n"
			"  1 more value of cl.procName without a column, counted in 'all'.\n");
}

static void a_second_has_its_time_in_each_row(void **state)
{
	static const struct live_row rows[] = { { live_values[1], NULL } };
	const struct live_answer second = LIVE_ANSWER(rows);
	struct buf out = { 0 };
	struct report r;

	(void)state;
	report_init(&r);
	pivot_second(&second, &r);
	report_write_json(&r, &out);
	assert_str_equal(buf_str(&out),
			 "{\"time\":100000000000,\"e.host\":\"a\",\"cl.procName\":\"sort\","
			 "\"SUM(e.delta)\":3,\"AVERAGE(e.took)\":4}\n");
	buf_done(&out);
	report_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_shows_each_number_over_time),
		cmocka_unit_test(a_histogram_is_its_range_and_bars),
		cmocka_unit_test(a_pivot_has_totals_at_its_right_and_foot),
		cmocka_unit_test(values_without_a_column_are_told),
		cmocka_unit_test(a_second_has_its_time_in_each_row),
	};

	return RUN(tests);
}
