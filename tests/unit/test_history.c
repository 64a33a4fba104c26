#include "unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/time.h"
#include "model/live.h"
#include "query/history.h"
#include "query/partial.h"

#define BEGAN (1000 * NS_S)

struct watch {
	struct history *h;
	struct arena arena;
	struct live_answer a;
	struct error err;
};

static void begin(struct watch *w, const char *text)
{
	*w = (struct watch){ 0 };
	assert_int_equal(history_new(&w->h, STR("7"), str_of(text), BEGAN, &w->err), 0);
}

static void end(struct watch *w)
{
	history_free(w->h);
	arena_done(&w->arena);
}

/* One row of "GroupBy host, program Select host, program, SUM(delta), AVERAGE(delta)". */
static void see(struct watch *w, int64_t second, const char *host, const char *program,
		int64_t delta)
{
	struct partial p;
	struct partial_shape shape;
	struct value keys[2];
	size_t group;

	partial_shape_of(&shape, history_plan(w->h));
	partial_init(&p, &shape);
	keys[0] = value_text(names_add(&p.names, str_of(host)));
	keys[1] = value_text(names_add(&p.names, str_of(program)));
	group = partial_group(&p, keys, 1);
	for (size_t i = 0; i < shape.nr_cells; i++)
		partial_add(&p, group, i, value_int(delta), 1);
	assert_int_equal(history_add(w->h, second * NS_S + NS_S, &p, &w->err), 0);
	partial_done(&p);
}

static void ask(struct watch *w, uint64_t keep, int64_t until)
{
	assert_int_equal(history_answer(w->h, keep, until * NS_S, &w->arena, &w->a, &w->err), 0);
}

static double over(const struct watch *w, size_t row, size_t column, size_t step)
{
	return w->a.rows[row].series[column * w->a.nr_steps + step];
}

static const char by_two[] = "From e In A GroupBy e.host, e.program "
			     "Select e.host, e.program, SUM(e.delta), AVERAGE(e.delta)";

static void rows_have_the_whole_and_each_second(void **state)
{
	struct watch w;

	(void)state;
	begin(&w, by_two);
	see(&w, 1000, "b", "scan", 4);
	see(&w, 1002, "a", "scan", 1);
	see(&w, 1002, "b", "scan", 6);
	ask(&w, UINT64_MAX, 1003);
	assert_int_equal(w.a.nr_rows, 2);
	assert_int_equal(w.a.nr_steps, 3);
	assert_int_equal(w.a.first_ns, BEGAN);
	assert_true(w.a.columns[0].is_key && w.a.columns[1].is_key);
	assert_true(w.a.columns[2].adds_up && !w.a.columns[3].adds_up);
	assert_str_equal(w.a.rows[0].values[0].text, "a");
	assert_int_equal(w.a.rows[1].values[2].i, 10);
	assert_true(w.a.rows[1].values[3].d == 5);
	assert_true(over(&w, 1, 2, 0) == 4 && isnan(over(&w, 1, 2, 1)) && over(&w, 1, 2, 2) == 6);
	assert_true(isnan(over(&w, 0, 2, 0)) && over(&w, 0, 2, 2) == 1);
	end(&w);
}

/* Averages are made of all values, not of averages. */
static void keys_that_are_left_out_are_put_together(void **state)
{
	struct watch w;

	(void)state;
	begin(&w, by_two);
	see(&w, 1000, "a", "scan", 2);
	see(&w, 1000, "a", "scan", 2);
	see(&w, 1000, "a", "sort", 8);
	see(&w, 1000, "b", "sort", 1);
	ask(&w, 1, 1001);
	assert_int_equal(w.a.nr_rows, 2);
	assert_int_equal(w.a.rows[0].values[1].type, LIVE_NONE);
	assert_int_equal(w.a.rows[0].values[2].i, 12);
	assert_true(w.a.rows[0].values[3].d == 4 && over(&w, 0, 3, 0) == 4);
	ask(&w, 0, 1001);
	assert_int_equal(w.a.nr_rows, 1);
	assert_int_equal(w.a.rows[0].values[2].i, 13);
	end(&w);
}

static void what_comes_late_counts_in_its_second(void **state)
{
	struct watch w;

	(void)state;
	begin(&w, by_two);
	see(&w, 1005, "a", "scan", 1);
	see(&w, 1001, "a", "scan", 2);
	ask(&w, UINT64_MAX, 1006);
	assert_true(over(&w, 0, 2, 1) == 2 && over(&w, 0, 2, 5) == 1);
	/* older than what is kept: in the whole only */
	see(&w, 1000 + HISTORY_STEPS + 9, "a", "scan", 4);
	see(&w, 1009, "a", "scan", 8);
	ask(&w, UINT64_MAX, 1000 + HISTORY_STEPS + 10);
	assert_int_equal(w.a.nr_steps, HISTORY_STEPS);
	assert_int_equal(w.a.rows[0].values[2].i, 15);
	assert_true(over(&w, 0, 2, HISTORY_STEPS - 1) == 4);
	for (size_t i = 0; i + 1 < HISTORY_STEPS; i++)
		assert_true(isnan(over(&w, 0, 2, i)));
	end(&w);
}

static void a_whole_answer_replaces_what_was_known(void **state)
{
	struct watch w;
	struct partial p;
	struct partial_shape shape;
	struct value keys[2] = { { 0 } };

	(void)state;
	begin(&w, by_two);
	see(&w, 1000, "a", "scan", 1);
	partial_shape_of(&shape, history_plan(w.h));
	partial_init(&p, &shape);
	keys[0] = value_text(names_add(&p.names, STR("z")));
	partial_add(&p, partial_group(&p, keys, 1), 0, value_int(100), 1);
	p.losses.count[LOSS_ROWS_DROPPED] = 3;
	assert_int_equal(history_set(w.h, &p, &w.err), 0);
	ask(&w, UINT64_MAX, 1001);
	assert_int_equal(w.a.nr_rows, 1);
	assert_int_equal(w.a.rows[0].values[2].i, 100);
	assert_int_equal(w.a.losses.count[LOSS_ROWS_DROPPED], 3);
	partial_done(&p);
	end(&w);
}

static void rows_that_are_not_aggregated_stand_for_themselves(void **state)
{
	struct watch w;

	(void)state;
	begin(&w, "From e In A Select e.host, e.program");
	see(&w, 1000, "a", "x", 0);
	see(&w, 1001, "a", "x", 0);
	see(&w, 1001, "a", "y", 0);
	ask(&w, 0, 1002);
	assert_int_equal(w.a.nr_rows, 3);
	assert_int_equal(w.a.nr_left_out, 0);
	/* the latest second first */
	assert_str_equal(w.a.rows[1].values[1].text, "y");
	assert_str_equal(w.a.rows[2].values[1].text, "x");
	assert_null(w.a.rows[0].series);
	assert_false(w.a.columns[0].is_key);
	end(&w);
}

static void too_many_rows_in_a_second_are_counted(void **state)
{
	struct watch w;
	char name[16];

	(void)state;
	begin(&w, by_two);
	for (int i = 0; i < HISTORY_STEP_GROUPS + 5; i++) {
		snprintf(name, sizeof(name), "h%d", i);
		see(&w, 1000, name, "scan", 1);
	}
	ask(&w, UINT64_MAX, 1001);
	assert_int_equal(w.a.nr_rows, HISTORY_STEP_GROUPS + 5);
	assert_int_equal(w.a.nr_not_over_time, 5);
	end(&w);
}

static void histograms_have_their_buckets(void **state)
{
	struct watch w;

	(void)state;
	begin(&w, "From e In A GroupBy e.host, e.program Select e.host, e.program, "
		  "HISTOGRAM(e.delta)");
	see(&w, 1000, "a", "x", 5);
	see(&w, 1001, "a", "x", 6);
	see(&w, 1001, "a", "x", 9);
	ask(&w, UINT64_MAX, 1002);
	assert_int_equal(w.a.nr_rows, 1);
	assert_int_equal(w.a.rows[0].values[2].type, LIVE_BUCKETS);
	assert_int_equal(w.a.rows[0].values[2].buckets.nr, 2);
	assert_true(w.a.rows[0].values[2].buckets.v[0].from == 4);
	assert_int_equal(w.a.rows[0].values[2].buckets.v[0].nr, 2);
	end(&w);
}

/* However many came before, the latest rows are there. */
static void the_latest_rows_are_kept(void **state)
{
	struct watch w;
	char name[16];

	(void)state;
	begin(&w, "From e In A Select e.host, e.program");
	for (int i = 0; i < 150; i++)
		for (int k = 0; k < 100; k++) {
			snprintf(name, sizeof(name), "%d.%d", i, k);
			see(&w, 1000 + i, name, "x", 0);
		}
	ask(&w, 0, 1150);
	assert_int_equal(w.a.nr_rows, PARTIAL_GROUPS);
	assert_int_equal(w.a.nr_left_out, 150 * 100 - PARTIAL_GROUPS);
	assert_str_equal(w.a.rows[0].values[0].text, "149.0");
	assert_int_equal(w.a.losses.count[LOSS_ROWS_DROPPED], 0);
	see(&w, 1000, "too late", "x", 0);
	ask(&w, 0, 1150);
	assert_int_equal(w.a.losses.count[LOSS_ROWS_DROPPED], 1);
	end(&w);
}

static void seconds_are_told_once_and_again_when_they_change(void **state)
{
	struct watch w;
	bool is_again = true;

	(void)state;
	begin(&w, by_two);
	see(&w, 1001, "a", "scan", 1);
	see(&w, 1000, "a", "scan", 2);
	assert_int_equal(history_next(w.h, 1002 * NS_S, &is_again), 1000 * NS_S);
	assert_int_equal(history_next(w.h, 1002 * NS_S, &is_again), 1001 * NS_S);
	assert_int_equal(history_next(w.h, 1002 * NS_S, &is_again), NS_NONE);
	assert_false(is_again);
	see(&w, 1000, "b", "scan", 7);
	assert_int_equal(history_late(w.h), 0);
	assert_int_equal(history_next(w.h, 1002 * NS_S, &is_again), 1000 * NS_S);
	assert_true(is_again);
	assert_int_equal(history_second(w.h, 1000 * NS_S, &w.arena, &w.a, &w.err), 0);
	assert_int_equal(w.a.nr_rows, 2);
	assert_int_equal(w.a.rows[1].values[2].i, 7);
	end(&w);
}

/* Who tells a second once waits for what comes late; what comes even later is counted. */
static void a_second_is_told_for_good_with_all_that_came(void **state)
{
	struct watch w;
	bool is_again;

	(void)state;
	begin(&w, by_two);
	see(&w, 1000, "a", "scan", 1);
	assert_int_equal(history_next(w.h, 1002 * NS_S, &is_again), 1000 * NS_S);
	see(&w, 1000, "a", "scan", 2);
	assert_int_equal(history_next_final(w.h, 1000 * NS_S), NS_NONE);
	assert_int_equal(history_next_final(w.h, 1001 * NS_S), 1000 * NS_S);
	assert_int_equal(history_second(w.h, 1000 * NS_S, &w.arena, &w.a, &w.err), 0);
	assert_int_equal(w.a.rows[0].values[2].i, 3);
	assert_int_equal(history_next_final(w.h, 1001 * NS_S), NS_NONE);
	assert_int_equal(history_late(w.h), 0);
	see(&w, 1000, "a", "scan", 4);
	assert_int_equal(history_late(w.h), 1);
	assert_int_equal(history_next_final(w.h, 1001 * NS_S), NS_NONE);
	end(&w);
}

/* The room of a second is needed by that of two minutes later: it is told before. */
static void no_second_gives_way_untold(void **state)
{
	struct watch w;
	int nr_told = 0;
	bool is_again;

	(void)state;
	begin(&w, by_two);
	for (int64_t second = 1000; second < 1000 + 3 * HISTORY_STEPS; second += 5) {
		int64_t room = history_room((second + 1) * NS_S);

		while (history_next(w.h, room, &is_again) != NS_NONE)
			nr_told++;
		see(&w, second, "a", "scan", 1);
	}
	/* just as many as had to */
	assert_int_equal(nr_told, 2 * HISTORY_STEPS / 5);
	while (history_next(w.h, 2000 * NS_S, &is_again) != NS_NONE)
		nr_told++;
	assert_int_equal(nr_told, 3 * HISTORY_STEPS / 5);
	ask(&w, 0, 2000);
	assert_int_equal(w.a.losses.count[LOSS_SECONDS_MISSED], 0);
	/* and one that is older than all that is kept is in the whole, and counted */
	see(&w, 1000, "a", "scan", 1000);
	ask(&w, 0, 2000);
	assert_int_equal(w.a.losses.count[LOSS_SECONDS_MISSED], 1);
	assert_int_equal(w.a.rows[0].values[2].i, 1000 + 3 * HISTORY_STEPS / 5);
	end(&w);
}

static void what_is_no_query_is_told(void **state)
{
	struct history *h = NULL;
	struct error err = { 0 };

	(void)state;
	assert_int_equal(history_new(&h, STR("1"), STR("From e On A"), 0, &err), -EINVAL);
	assert_null(h);
	assert_true(err.msg[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_have_the_whole_and_each_second),
		cmocka_unit_test(keys_that_are_left_out_are_put_together),
		cmocka_unit_test(what_comes_late_counts_in_its_second),
		cmocka_unit_test(a_whole_answer_replaces_what_was_known),
		cmocka_unit_test(rows_that_are_not_aggregated_stand_for_themselves),
		cmocka_unit_test(too_many_rows_in_a_second_are_counted),
		cmocka_unit_test(histograms_have_their_buckets),
		cmocka_unit_test(the_latest_rows_are_kept),
		cmocka_unit_test(seconds_are_told_once_and_again_when_they_change),
		cmocka_unit_test(a_second_is_told_for_good_with_all_that_came),
		cmocka_unit_test(no_second_gives_way_untold),
		cmocka_unit_test(what_is_no_query_is_told),
	};

	return RUN(tests);
}
