/* Requests on a busy machine: what comes late for once, and what a warning stands in front of. */
#include "unit.h"

#include <stdlib.h>

#include "infer/requests/cause.h"
#include "request_lines.h"

static struct lines l;
static struct steps s;

enum { NR = 120 };

static void begin(void)
{
	lines_begin(&l);
	lines_file(&l, "nn.log", "nn.log");
}

/* What mostly comes within some milliseconds takes two seconds here and there. */
static void what_surely_comes_may_be_slow_for_once(void **state)
{
	static const int delay[] = { 2, 400, 5, 30, 2, 2000, 9, 100, 3, 900 };
	uint64_t asked[NR], written[NR];

	(void)state;
	begin();
	for (int i = 0; i < NR; i++) {
		char thread[64];

		asked[i] = lines_add(&l, i * 700, i % 2 ? "handler 1" : "handler 2",
				     "allocate blk_%d", 1000 + i);
		snprintf(thread, sizeof(thread), "responder [blk_%d]", 1000 + i);
		written[i] =
			lines_add(&l, i * 700 + delay[i % 10], thread, "written blk_%d", 1000 + i);
	}
	lines_run(&l);
	for (int i = 0; i < NR; i++) {
		assert_int_equal(l.requests[asked[i]], l.requests[written[i]]);
		if (i)
			assert_int_not_equal(l.requests[asked[i]], l.requests[asked[i - 1]]);
	}
	lines_end(&l);
}

/* What is done to everything sooner or later is asked for by somebody else. */
static void what_comes_any_time_later_is_another_request(void **state)
{
	uint64_t asked[NR], scrubbed[NR];

	(void)state;
	begin();
	for (int i = 0; i < NR; i++)
		asked[i] = lines_add(&l, i * 700, i % 2 ? "handler 1" : "handler 2",
				     "allocate blk_%d", 1000 + i);
	for (int i = 0; i < NR; i++)
		scrubbed[i] = lines_add(&l, i * 700 + (400 << i % 8), "scrubber", "scrub blk_%d",
					1000 + i);
	lines_run(&l);
	for (int i = 0; i < NR; i++)
		assert_int_not_equal(l.requests[asked[i]], l.requests[scrubbed[i]]);
	lines_end(&l);
}

/* In one case of nine nothing comes of it, and the thread goes on with something else. */
static void a_warning_goes_with_what_it_stands_in_front_of(void **state)
{
	static const char *const others[] = { "stored", "closed", "dropped" };
	static const char *const threads[] = { "handler 1", "handler 2", "handler 3" };
	uint64_t warned[NR], asked[NR];

	(void)state;
	begin();
	for (int i = 0; i < NR; i++) {
		const char *thread = threads[i % 3];
		int64_t ms = i * 400;

		for (int k = 0; k < 3; k++)
			lines_add(&l, ms + k * 10, thread, "%s blk_%d", others[(i + k * k) % 3],
				  5000 + i * 3 + k);
		warned[i] = lines_add(&l, ms + 40, thread, "not able to place enough");
		asked[i] = i % 9 == 8 ? UINT64_MAX
				      : lines_add(&l, ms + 41, thread, "allocate blk_%d", 1000 + i);
	}
	steps_begin(&s, &l);
	for (int i = 0; i < NR; i++) {
		const struct unit *u = steps_unit(&s, warned[i]);

		assert_int_equal(work_line(&s.w, u->from)->event, warned[i]);
		if (asked[i] == UINT64_MAX)
			continue;
		assert_ptr_equal(steps_unit(&s, asked[i]), u);
		/* and counts as such */
		assert_int_equal(work_line(&s.w, u->main)->event, asked[i]);
		assert_int_equal(u->type, work_line(&s.w, u->main)->type);
	}
	steps_end(&s);
	lines_end(&l);
}

/* A thread that is called after a block says what it seldom says: whoever has just dealt with the
 * block in that log has it done. */
static void a_thread_called_after_a_thing_works_for_who_deals_with_it(void **state)
{
	uint64_t received[NR], failed[NR];
	struct ties ties;

	(void)state;
	begin();
	for (int i = 0; i < NR; i++) {
		char thread[64];

		lines_add(&l, i * 700, "handler", "allocate blk_%d for /data/dir/f%d", 1000 + i,
			  i / 2);
		received[i] = lines_add(&l, i * 700 + 20, i % 2 ? "receiver 1" : "receiver 2",
					"receive blk_%d", 1000 + i);
		snprintf(thread, sizeof(thread), "responder [blk_%d]", 1000 + i);
		/* in one of four only, so that none of it is usual */
		if (i % 4 == 0)
			failed[i] = lines_add(&l, i * 700 + 50, thread, "no answer for blk_%d",
					      1000 + i);
		else if (i % 4 == 1)
			failed[i] =
				lines_add(&l, i * 700 + 400, thread, "checked blk_%d", 1000 + i);
	}
	steps_begin(&s, &l);
	ties_find(&ties, &s.w, &s.owners);
	for (int i = 0; i < NR; i += 4) {
		const struct sitting now = { .w = &s.w, .o = &s.owners, .l = &ties };
		const struct unit *at_once = steps_unit(&s, failed[i]);
		const struct unit *later = steps_unit(&s, failed[i + 1]);
		const struct candidate *c = cause_beside(&now, (uint32_t)(at_once - s.w.units.v));

		assert_non_null(c);
		assert_ptr_equal(&s.w.units.v[c->unit], steps_unit(&s, received[i]));
		assert_null(cause_beside(&now, (uint32_t)(later - s.w.units.v)));
	}
	ties_done(&ties);
	steps_end(&s);
	lines_end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_surely_comes_may_be_slow_for_once),
		cmocka_unit_test(what_comes_any_time_later_is_another_request),
		cmocka_unit_test(a_thread_called_after_a_thing_works_for_who_deals_with_it),
		cmocka_unit_test(a_warning_goes_with_what_it_stands_in_front_of),
	};

	return RUN(tests);
}
