/* A Java machine that stands still, and locks that are known only afterwards. */
#include "unit.h"

#include "infer/intervals/intervals.h"
#include "model/loss.h"

#define ROOT 0
#define WORK 1

static const struct interval_function functions[] = { { { "root", 4 }, ROLE_WHOLE },
						      { { "work", 4 }, ROLE_NONE } };

struct seen {
	unsigned nr;
	int64_t root, work, root_waits[NR_WAITS], work_waits[NR_WAITS];
	int64_t parts[NR_WAITS]; /* waits as parts of the interval */
};

static int see(void *to, const struct interval *v, struct error *err)
{
	struct seen *s = to;

	(void)err;
	s->nr++;
	for (size_t i = 0; i < v->nr_parts; i++) {
		const struct interval_part *p = &v->parts[i];

		if (p->function >= PART_WAIT)
			s->parts[p->function - PART_WAIT] += p->ns;
		for (int why = 0; why < NR_WAITS; why++) {
			s->root_waits[why] += p->function == ROOT ? p->waits[why] : 0;
			s->work_waits[why] += p->function == WORK ? p->waits[why] : 0;
		}
		s->root += p->function == ROOT ? p->ns : 0;
		s->work += p->function == WORK ? p->ns : 0;
	}
	return 0;
}

static struct intervals *open_seen(struct seen *seen)
{
	const struct intervals_options o = {
		.functions = functions, .nr_functions = 2, .interval = see, .to = seen
	};
	struct intervals *s;

	assert_int_equal(intervals_open(&s, &o, NULL), 0);
	return s;
}

/* Thread 7 works from 1100 to 1900 for an interval from 1000 to 2000. */
static void tell_calls(struct intervals *s)
{
	const struct mark m = { .ns = 1000, .process = 1, .thread = 7 };
	const struct function_call c[] = {
		{ .start = 1100, .end = 1900, .function = WORK, .process = 1, .thread = 7 },
		{ .start = 1000, .end = 2000, .function = ROOT, .process = 1, .thread = 7 },
	};

	intervals_mark(s, &m, 1, NULL);
	intervals_call(s, c, 2, NULL);
}

static void tell_wait(struct intervals *s, int64_t from, int64_t woken, int64_t on,
		      enum wait_why why)
{
	const struct thread_change c[] = {
		{ from, 1, 7, 0, 0, THREAD_OFF, why, -1 },
		{ woken, 1, 7, 0, 0, THREAD_WOKEN, WAIT_NONE, -1 },
		{ on, 1, 7, 0, 0, THREAD_ON, WAIT_NONE, -1 },
	};

	intervals_change(s, c, 3, NULL);
}

static void what_stands_still_is_no_part_of_what_it_meets(void **state)
{
	struct seen seen = { 0 };
	struct intervals *s = open_seen(&seen);

	(void)state;
	tell_calls(s);
	tell_wait(s, 1200, 1500, 1520, WAIT_GC);
	assert_int_equal(intervals_close(s, NULL), 0);
	assert_int_equal(seen.nr, 1);
	assert_int_equal(seen.root, 1000);
	assert_int_equal(seen.work, 500);
	assert_int_equal(seen.parts[WAIT_GC], 300);
	assert_int_equal(seen.root_waits[WAIT_GC], 300);
	assert_int_equal(seen.work_waits[WAIT_GC], 0);
	assert_int_equal(seen.work_waits[WAIT_CPU], 20);
}

/* 1300 to 1400 and 1550 to 1570 of the waits; the second stop is another process's. */
static void waits_are_longer_by_a_stop(void **state)
{
	struct seen seen = { 0 };
	struct intervals *s = open_seen(&seen);

	(void)state;
	tell_calls(s);
	tell_wait(s, 1200, 1500, 1600, WAIT_LOCK);
	intervals_stop(s, 1, 1300, 1400);
	intervals_stop(s, 2, 1410, 1490);
	intervals_stop(s, 1, 1550, 1570);
	assert_int_equal(intervals_close(s, NULL), 0);
	assert_int_equal(seen.parts[WAIT_GC], 120);
	assert_int_equal(seen.work, 680);
	assert_int_equal(seen.work_waits[WAIT_LOCK], 200);
	assert_int_equal(seen.work_waits[WAIT_CPU], 80);
}

static void who_sleeps_or_reads_is_not_stopped(void **state)
{
	struct seen seen = { 0 };
	struct intervals *s = open_seen(&seen);

	(void)state;
	tell_calls(s);
	tell_wait(s, 1200, 1300, 1300, WAIT_SLEEP);
	tell_wait(s, 1400, 1500, 1500, WAIT_IO);
	intervals_stop(s, 1, 1190, 1600);
	assert_int_equal(intervals_close(s, NULL), 0);
	assert_int_equal(seen.parts[WAIT_GC], 0);
	assert_int_equal(seen.work_waits[WAIT_SLEEP], 100);
	assert_int_equal(seen.work_waits[WAIT_IO], 100);
}

static void without_states_of_threads_a_stop_is_all_that_is_known(void **state)
{
	struct seen seen = { 0 };
	struct intervals *s = open_seen(&seen);

	(void)state;
	tell_calls(s);
	intervals_stop(s, 1, 1300, 1400);
	assert_int_equal(intervals_close(s, NULL), 0);
	assert_int_equal(seen.root, 1000);
	assert_int_equal(seen.work, 700);
	assert_int_equal(seen.parts[WAIT_GC], 100);
}

/* Told when it was had: of both waits the one that is in it. */
static void a_wait_turns_out_to_be_for_a_lock(void **state)
{
	struct seen seen = { 0 };
	struct intervals *s = open_seen(&seen);

	(void)state;
	tell_calls(s);
	tell_wait(s, 1200, 1300, 1300, WAIT_QUEUE);
	tell_wait(s, 1400, 1500, 1500, WAIT_QUEUE);
	tell_wait(s, 1510, 1540, 1540, WAIT_SLEEP);
	intervals_lock(s, 1, 7, 1390, 1545);
	assert_int_equal(intervals_close(s, NULL), 0);
	assert_int_equal(seen.work_waits[WAIT_QUEUE], 100);
	assert_int_equal(seen.work_waits[WAIT_LOCK], 130);
	assert_int_equal(seen.work_waits[WAIT_SLEEP], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_stands_still_is_no_part_of_what_it_meets),
		cmocka_unit_test(waits_are_longer_by_a_stop),
		cmocka_unit_test(who_sleeps_or_reads_is_not_stopped),
		cmocka_unit_test(without_states_of_threads_a_stop_is_all_that_is_known),
		cmocka_unit_test(a_wait_turns_out_to_be_for_a_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
