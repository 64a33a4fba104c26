/* Where work begins and ends in a thread, and which line answers which. */
#include "unit.h"

#include <stdlib.h>

#include "infer/requests/frame.h"
#include "request_lines.h"

enum { NR = 40, OPEN = 0, CLOSE = 1, MIDDLE = 2, OTHER = 3, NR_STATEMENTS };

static struct lines l;
static struct steps s;

/* One thread: opens, does something, closes, over and over; what it does in the middle seems to
 * begin anew now and then. */
static void what_lies_between_two_ends_is_not_cut(void **state)
{
	struct frame_step v[4 * NR] = { 0 };
	size_t nr = 0;
	uint32_t at = 0;

	(void)state;
	for (int i = 0; i < NR; i++) {
		const uint32_t work[] = { OPEN, MIDDLE, i % 2 ? OTHER : MIDDLE, CLOSE };

		for (int k = 0; k < 4; k++, at++)
			if (at)
				v[nr++] = (struct frame_step){ .at = at,
							       .before = k ? work[k - 1] : CLOSE,
							       .after = work[k],
							       .is_cut = !k || (k == 2 && i % 3) };
	}
	frame_join(v, nr, NR_STATEMENTS);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(v[i].is_cut, v[i].after == OPEN);
}

static void rounds_of_a_loop_stay_cut(void **state)
{
	struct frame_step v[3 * NR] = { 0 };
	size_t nr = 0;
	uint32_t at = 0;

	(void)state;
	for (int i = 0; i < NR; i++) {
		const uint32_t work[] = { OPEN, MIDDLE, CLOSE };

		for (int k = 0; k < 3; k++, at++)
			if (at)
				v[nr++] = (struct frame_step){ .at = at,
							       .before = k ? work[k - 1] : CLOSE,
							       .after = work[k],
							       .is_cut = k < 2 && (!k || i % 2),
							       .is_round = k == 1 };
	}
	frame_join(v, nr, NR_STATEMENTS);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(v[i].is_cut,
				 v[i].after == OPEN || (v[i].after == MIDDLE && v[i].at / 3 % 2));
}

/* Where each line is a piece of work, a line of another sort in between is one too. */
static void work_of_one_line_frames_nothing(void **state)
{
	struct frame_step v[NR] = { 0 };

	(void)state;
	for (uint32_t i = 0; i < NR; i++)
		v[i] = (struct frame_step){ .at = i + 1,
					    .before = i % 8 == 7 ? OTHER : OPEN,
					    .after = i % 8 == 6 ? OTHER : OPEN,
					    .is_cut = true };
	frame_join(v, NR, NR_STATEMENTS);
	for (size_t i = 0; i < NR; i++)
		assert_true(v[i].is_cut);
}

static uint64_t say(int64_t ms, const char *thread, const char *verb, int from, int to, int number)
{
	return lines_add(&l, ms, thread, "10.0.0.%d:7000 sends %s to %d@10.0.0.%d:7000", from, verb,
			 number, to);
}

/* Both ends ask, and use the same numbers for it at about the same time. */
static void an_answer_is_held_to_its_question_and_not_to_what_the_other_end_asks(void **state)
{
	uint64_t asked[2][NR], answered[2][NR];

	(void)state;
	lines_begin(&l);
	for (int node = 0; node < 2; node++) {
		const char *log = node ? "b.log" : "a.log";
		int other = 1 - node;

		lines_file(&l, log, log);
		for (int i = 0; i < NR; i++) {
			asked[node][i] = say(i * 100 + node * 5, "caller", i % 2 ? "GET" : "PUT",
					     node + 1, other + 1, i);
			answered[other][i] = say(i * 100 + 20 + node * 5, "worker",
						 i % 2 ? "GOT" : "DONE", node + 1, other + 1, i);
		}
	}
	steps_begin(&s, &l);
	for (int node = 0; node < 2; node++)
		for (int i = 0; i < NR; i++) {
			assert_int_equal(s.w.answers[answered[node][i]], asked[node][i] + 1);
			assert_int_equal(s.w.answers[asked[node][i]], 0);
		}
	steps_end(&s);
	lines_end(&l);
}

/* A message to itself has one end only. */
static void who_answers_itself_is_answered(void **state)
{
	uint64_t asked[NR], answered[NR];

	(void)state;
	lines_begin(&l);
	lines_file(&l, "a.log", "a.log");
	for (int i = 0; i < NR; i++) {
		asked[i] = say(i * 100, "caller", "GET", 1, 1, i);
		answered[i] = say(i * 100 + 20, "worker", "GOT", 1, 1, i);
	}
	lines_run(&l);
	for (int i = 0; i < NR; i++)
		assert_int_equal(l.requests[asked[i]], l.requests[answered[i]]);
	lines_end(&l);
}

/* Work of which every other piece waits for another thread, which names nothing. */
static void what_is_done_while_only_one_waits_is_done_for_it(void **state)
{
	uint64_t begun[NR], answered[NR], asked[NR];

	(void)state;
	lines_begin(&l);
	lines_file(&l, "a.log", "a.log");
	for (int i = 0; i < NR; i++) {
		const char *caller = i % 2 ? "caller 1" : "caller 2";
		int ms = i * 1000;

		begun[i] = lines_add(&l, ms, caller, "begins order x%dy", 1000 + i);
		if (i % 2) {
			asked[i] = lines_add(&l, ms + 10, caller, "asks for x%dy", 1000 + i);
			answered[i] = lines_add(&l, ms + 20, "stage 1", "stock is there");
		}
		lines_add(&l, ms + 40, caller, "ends order x%dy", 1000 + i);
	}
	lines_run(&l);
	for (int i = 1; i < NR; i += 2) {
		assert_int_not_equal(l.requests[begun[i]], 0);
		assert_int_equal(l.requests[begun[i]], l.requests[asked[i]]);
		assert_int_equal(l.requests[begun[i]], l.requests[answered[i]]);
	}
	lines_end(&l);
}

static void what_is_done_while_two_wait_is_left_alone(void **state)
{
	uint64_t answered[NR];

	(void)state;
	lines_begin(&l);
	lines_file(&l, "a.log", "a.log");
	for (int i = 0; i < NR; i++) {
		for (int k = 0; k < 2; k++)
			lines_add(&l, i * 1000, k ? "caller 1" : "caller 2", "begins order x%dy",
				  1000 + 2 * i + k);
		answered[i] = lines_add(&l, i * 1000 + 20, "stage 1", "stock is there");
		for (int k = 0; k < 2; k++)
			lines_add(&l, i * 1000 + 40, k ? "caller 1" : "caller 2", "ends order x%dy",
				  1000 + 2 * i + k);
	}
	lines_run(&l);
	for (int i = 0; i < NR; i++)
		assert_int_equal(l.requests[answered[i]], 0);
	lines_end(&l);
}

/* Each line is work of its own, but now and then two follow each other at once. */
static void what_is_always_work_of_its_own_is_cut_off(void **state)
{
	struct frame_step v[NR] = { 0 };

	(void)state;
	for (uint32_t i = 0; i < NR; i++)
		v[i] = (struct frame_step){ .at = i + 1,
					    .before = OPEN,
					    .after = OPEN,
					    .is_cut = i != 7 && i != 9,
					    .is_same = i == 9 };
	frame_join(v, NR, NR_STATEMENTS);
	assert_true(v[7].is_cut);
	assert_false(v[9].is_cut);
}

static void an_amount_with_its_unit_names_nothing(void **state)
{
	(void)state;
	lines_begin(&l);
	lines_file(&l, "a.log", "a.log");
	lines_add(&l, 0, "main", "flushed 64KiB in 30ms of R2d2");
	steps_begin(&s, &l);
	assert_int_equal(l.g.lines.v[0].nr_own, 1);
	steps_end(&s);
	lines_end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_lies_between_two_ends_is_not_cut),
		cmocka_unit_test(rounds_of_a_loop_stay_cut),
		cmocka_unit_test(work_of_one_line_frames_nothing),
		cmocka_unit_test(
			an_answer_is_held_to_its_question_and_not_to_what_the_other_end_asks),
		cmocka_unit_test(who_answers_itself_is_answered),
		cmocka_unit_test(what_is_done_while_only_one_waits_is_done_for_it),
		cmocka_unit_test(what_is_done_while_two_wait_is_left_alone),
		cmocka_unit_test(what_is_always_work_of_its_own_is_cut_off),
		cmocka_unit_test(an_amount_with_its_unit_names_nothing),
	};

	return RUN(tests);
}
