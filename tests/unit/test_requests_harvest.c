#include "unit.h"

#include "infer/requests/gather_pack.h"
#include "request_lines.h"

enum { LOGS = 3, LINES = 2000 };

static struct lines l;

static void begin(const char *log)
{
	lines_begin(&l);
	lines_file(&l, log, log);
}

static void packed_lines_come_back_as_they_were(void **state)
{
	struct gather back = { 0 };
	struct buf bytes = { 0 };

	(void)state;
	begin("one_17_2.log");
	for (int i = 0; i < 50; i++)
		lines_add(&l, i % 7 ? i * 13 : -1, i % 2 ? "a" : "b", "read blk_%d of /d/%d", i,
			  i % 5);
	gather_pack(&l.h.block, &bytes);
	assert_true(gather_unpack(&back, buf_str(&bytes)));
	assert_int_equal(back.lines.nr, 50);
	for (size_t i = 0; i < 50; i++) {
		const struct seen_line *a = &l.h.block.lines.v[i], *b = &back.lines.v[i];

		assert_int_equal(a->ns, b->ns);
		assert_int_equal(a->event, b->event);
		assert_int_equal(a->is_undated, b->is_undated);
		assert_int_equal(a->nr_own, b->nr_own);
		assert_int_equal(a->nr_names, b->nr_names);
		assert_true(str_eq(names_str(&l.h.block.threads, a->thread),
				   names_str(&back.threads, b->thread)));
		assert_true(str_eq(names_str(&l.h.block.types, a->type),
				   names_str(&back.types, b->type)));
		for (unsigned k = 0; k < a->nr_names; k++)
			assert_true(str_eq(
				names_str(&l.h.block.things, l.h.block.named.v[a->name_at + k]),
				names_str(&back.things, back.named.v[b->name_at + k])));
	}
	gather_done(&back);
	for (size_t n = 0; n < bytes.n; n++) {
		assert_false(gather_unpack(&back, str_head(buf_str(&bytes), n)));
		gather_done(&back);
	}
	buf_done(&bytes);
	lines_end(&l);
}

/* Logs that are delivered one after the other, all of the same time; the clock of one is set back
 * in the middle. */
static void write_logs(size_t window, int64_t back_ms)
{
	const char *names[LOGS] = { "a.log", "b.log", "c.log" };

	lines_begin(&l);
	l.h.window = window;
	for (int log = 0; log < LOGS; log++) {
		lines_file(&l, names[log], names[log]);
		for (int i = 0; i < LINES; i++)
			lines_add(&l, i * 100 + log - (log == 1 && i > LINES / 2 ? back_ms : 0),
				  "main", "did blk_%d", i);
	}
}

/* How many windows there are; every line is of one, and those of a log are in order. */
static size_t check_windows(void)
{
	uint8_t seen[LOGS * LINES] = { 0 };
	struct harvest_cursor c;
	struct gather g = { 0 };
	struct error err;

	assert_int_equal(harvest_end(&l.h, &err), 0);
	harvest_cursor(&l.h, &c, INT64_MIN);
	for (size_t i = 0; i < l.h.bounds.nr; i++) {
		uint64_t last[LOGS] = { 0 };

		assert_true(!i || l.h.bounds.v[i] > l.h.bounds.v[i - 1]);
		assert_int_equal(harvest_upto(&l.h, &c, &g, l.h.bounds.v[i], &err), 0);
		vec_each (&g.lines, line) {
			uint64_t log = line->event / LINES;

			assert_true(line->event >= last[log]);
			last[log] = line->event;
			seen[line->event]++;
		}
		gather_done(&g);
	}
	for (size_t i = 0; i < sizeof(seen); i++)
		assert_int_equal(seen[i], 1);
	harvest_cursor_done(&c);
	return l.h.bounds.nr;
}

static void many_lines_come_back_in_windows_each_line_once(void **state)
{
	(void)state;
	write_logs(1000, 0);
	assert_true(l.h.is_out);
	assert_in_range(check_windows(), 5, 6);
	lines_end(&l);
	write_logs(1000, 70000);
	assert_in_range(check_windows(), 5, 6);
	lines_end(&l);
}

static void few_lines_stay_in_memory_and_are_one_window(void **state)
{
	(void)state;
	write_logs(0, 0);
	assert_int_equal(check_windows(), 1);
	assert_false(l.h.is_out);
	lines_end(&l);
}

static void whoever_begins_in_the_middle_gets_what_comes_from_then_on(void **state)
{
	const int64_t from = LINES_START + 120 * NS_S, until = from + 30 * NS_S;
	struct harvest_cursor c;
	struct gather g = { 0 };
	struct error err;

	(void)state;
	write_logs(1000, 0);
	assert_int_equal(harvest_end(&l.h, &err), 0);
	harvest_cursor(&l.h, &c, from);
	assert_int_equal(harvest_upto(&l.h, &c, &g, until, &err), 0);
	assert_int_equal(g.lines.nr, 3 * 300);
	vec_each (&g.lines, line)
		assert_true(line->ns >= from && line->ns < until);
	harvest_cursor_done(&c);
	gather_done(&g);
	lines_end(&l);
}

/* Another thread answers each time, and the whole takes longer than what is looked at together. */
static void write_work(size_t window)
{
	lines_begin(&l);
	l.h.window = window;
	lines_file(&l, "a.log", "a.log");
	for (int i = 0; i < LINES; i++) {
		lines_add(&l, i * 400, "ask", "asked for blk_%d", 1000 + i);
		lines_add(&l, i * 400 + 300, "answer", "looked up blk_%d", 1000 + i);
	}
}

/* However many windows each chain has. */
static void requests_that_go_on_in_the_next_window_are_whole(void **state)
{
	(void)state;
	for (size_t window = 450; window >= 250; window -= 50) {
		write_work(window);
		lines_run(&l);
		assert_true(l.h.bounds.nr >= 8); /* several chains */
		for (int i = 0; i < LINES; i++) {
			assert_int_not_equal(l.requests[2 * i], 0);
			assert_int_equal(l.requests[2 * i], l.requests[2 * i + 1]);
			assert_true(!i || l.requests[2 * i] != l.requests[2 * i - 1]);
		}
		lines_end(&l);
	}
}

/* Windows are inferred as soon as they are over; what is found is what it is when all is there. */
static void windows_that_are_over_are_inferred_once(void **state)
{
	struct infer_options o = INFER_DEFAULTS;
	struct requests_begun *begun = NULL;
	struct error err;
	int nr_times = 0;
	uint64_t nr;

	(void)state;
	lines_begin(&l);
	l.h.window = 450;
	lines_file(&l, "a.log", "a.log");
	o.harvest = &l.h;
	for (int i = 0; i < LINES; i++) {
		int got;

		lines_add(&l, i * 400, "ask", "asked for blk_%d", 1000 + i);
		lines_add(&l, i * 400 + 300, "answer", "looked up blk_%d", 1000 + i);
		got = i % 50 ? 0 : harvest_settle(&l.h, &err);
		assert_true(got >= 0);
		if (got)
			assert_int_equal(requests_go_on(&begun, l.s, &o, &err), 0);
		nr_times += got;
	}
	assert_true(nr_times >= 5);
	assert_true(store_is_placed(l.s, 0));
	assert_int_equal(harvest_end(&l.h, &err), 0);
	o.begun = begun;
	assert_int_equal(infer_requests.run(l.s, &o, &err), 0);
	requests_begun_free(begun);
	assert_int_equal(store_finish(l.s, &err), 0);
	assert_int_equal(store_event_requests(l.s, &l.requests, &nr, &err), 0);
	for (int i = 0; i < LINES; i++) {
		assert_int_not_equal(l.requests[2 * i], 0);
		assert_int_equal(l.requests[2 * i], l.requests[2 * i + 1]);
		assert_true(!i || l.requests[2 * i] != l.requests[2 * i - 1]);
	}
	lines_end(&l);
}

/* One log is five minutes ahead of the other. */
static void clocks_are_set_right_in_every_window(void **state)
{
	(void)state;
	lines_begin(&l);
	l.h.window = 900;
	for (int log = 0; log < 2; log++) {
		lines_file(&l, log ? "b.log" : "a.log", log ? "b.log" : "a.log");
		for (int i = 0; i < LINES; i++)
			lines_add(&l, i * 400 + (log ? 300300 : 0), log ? "answer" : "ask",
				  log ? "looked up blk_%d" : "asked for blk_%d", 1000 + i);
	}
	lines_run(&l);
	for (int i = 0; i < LINES; i++)
		assert_int_equal(l.requests[i], l.requests[LINES + i]);
	lines_end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_lines_come_back_as_they_were),
		cmocka_unit_test(many_lines_come_back_in_windows_each_line_once),
		cmocka_unit_test(few_lines_stay_in_memory_and_are_one_window),
		cmocka_unit_test(whoever_begins_in_the_middle_gets_what_comes_from_then_on),
		cmocka_unit_test(requests_that_go_on_in_the_next_window_are_whole),
		cmocka_unit_test(windows_that_are_over_are_inferred_once),
		cmocka_unit_test(clocks_are_set_right_in_every_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
