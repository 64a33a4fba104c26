/* Lines that say nothing of what they are about, and where they belong: to the work in front of
 * them, behind them, or around them. */
#include "unit.h"

#include <stdlib.h>

#include "infer/requests/cut_step.h"

/* Statements of one family of threads. */
enum { STORED, SUM, OPENED, WARNED, CLOSED, NR_PAIRS };

enum { SOON = 0, LATE = 9, ROUNDS = 40 };

static struct steps_seen steps;
static uint32_t at;

static struct step *step(uint32_t before, uint32_t after, enum relation relation, uint8_t gap)
{
	struct step s = { .at = ++at,
			  .before = before,
			  .after = after,
			  .relation = (uint8_t)relation,
			  .gap = gap,
			  .is_certain = relation == CONTRADICTS,
			  .begins = relation == CONTRADICTS ? 1 : 0.2F };

	vec_push(&steps, s);
	return &steps.v[steps.nr - 1];
}

static void begin(void)
{
	vec_clear(&steps);
	at = 0;
}

static void end(void)
{
	vec_done(&steps);
	steps = (struct steps_seen){ 0 };
}

/* What is stored is told of in one line each, and their sum in another one, now and then late; then
 * the thread goes back to other work. */
static void report(uint8_t gap)
{
	step(STORED, STORED, CONTRADICTS, SOON);
	step(STORED, SUM, NOTHING, gap);
	step(SUM, STORED, NOTHING, SOON);
	steps.v[steps.nr - 1].is_certain = true;
	steps.v[steps.nr - 1].begins = 1;
}

static void a_line_behind_the_same_one_each_time_ends_its_work_however_late(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < ROUNDS; i++)
		report(i % 20 == 19 ? LATE : SOON);
	steps_be_sure(&steps, NR_PAIRS);
	vec_each (&steps, s)
		if (s->after == SUM) {
			assert_true(s->is_certain);
			assert_true(s->begins < 0.5F);
			assert_false(s->is_led);
		}
	end();
}

static void a_line_behind_now_this_now_that_ends_nothing(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < ROUNDS; i++) {
		report(SOON);
		step(i % 2 ? CLOSED : OPENED, SUM, NOTHING, SOON);
	}
	steps_be_sure(&steps, NR_PAIRS);
	vec_each (&steps, s)
		if (s->after == SUM)
			assert_false(s->is_certain && s->begins < 0.5F);
	end();
}

/* Nobody knows whether work ends behind it. */
static void a_line_that_other_work_does_not_follow_ends_nothing(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < ROUNDS; i++) {
		step(STORED, SUM, NOTHING, SOON);
		step(SUM, i % 2 ? CLOSED : OPENED, NOTHING, SOON);
	}
	steps_be_sure(&steps, NR_PAIRS);
	vec_each (&steps, s)
		if (s->after == SUM)
			assert_false(s->is_certain);
	end();
}

/* A file is opened, there is a warning, and the same file is closed. */
static void warn(bool is_same)
{
	step(OPENED, WARNED, NOTHING, SOON);
	step(WARNED, CLOSED, NOTHING, SOON)->is_about_the_same = is_same;
}

static bool is_bridge(size_t i)
{
	const struct step *s = &steps.v[i];

	return s[0].is_certain && s[0].begins < 0.5F && s[1].is_certain && s[1].begins < 0.5F;
}

static void a_seldom_warning_is_in_the_middle_of_what_goes_on(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 4; i++)
		warn(i != 2);
	steps_be_sure(&steps, NR_PAIRS);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(is_bridge(2 * i), i != 2);
	end();
}

static void a_line_that_is_often_there_bridges_nothing(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < ROUNDS; i++)
		warn(true);
	steps_be_sure(&steps, NR_PAIRS);
	for (size_t i = 0; i < ROUNDS; i++)
		assert_false(is_bridge(2 * i));
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_behind_the_same_one_each_time_ends_its_work_however_late),
		cmocka_unit_test(a_line_behind_now_this_now_that_ends_nothing),
		cmocka_unit_test(a_line_that_other_work_does_not_follow_ends_nothing),
		cmocka_unit_test(a_seldom_warning_is_in_the_middle_of_what_goes_on),
		cmocka_unit_test(a_line_that_is_often_there_bridges_nothing),
	};

	return RUN(tests);
}
