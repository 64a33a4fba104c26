#include "unit.h"

#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "model/event.h"
#include "source/logs.h"
#include "source/source.h"
#include "source/split.h"

static const char text[] = "continued from before\n"
			   "\tat a.B.c(B.java:1)\n"
			   "2024-05-01 10:00:01,000 INFO [a] x.Y: one\n"
			   "2024-05-01 10:00:02,000 INFO [a] x.Y: two\n"
			   "\tgoes on\n"
			   "2024-05-01 10:00:03,000 INFO [a] x.Y: three\n"
			   "\tmay go on in the next part\n";

struct seen {
	struct buf front, tail, events;
	struct split *split;
	uint64_t tail_at;
};

static int take_raw(void *to, struct str lines, bool is_front, struct error *err)
{
	struct seen *s = to;

	(void)err;
	buf_add(is_front ? &s->front : &s->tail, lines);
	if (!is_front)
		s->tail_at = s->split->bytes;
	return 0;
}

static int take_events(void *to, const struct event *ev, size_t nr, struct error *err)
{
	struct seen *s = to;

	(void)err;
	for (size_t i = 0; i < nr; i++)
		buf_fmt(&s->events, "%llu+%llu line %llu of %u\n", (unsigned long long)ev[i].offset,
			(unsigned long long)ev[i].length, (unsigned long long)ev[i].line,
			ev[i].nr_lines);
	return 0;
}

/* In pieces of so many bytes. */
static void read_split(struct seen *s, struct str bytes, size_t piece)
{
	const struct logs_about about = { "x.log", 0, { text, sizeof(text) - 1 }, { 0 } };
	const struct source_options o = { .zone = "UTC" };
	const struct split_taker taker = { s, take_raw, take_events };
	struct error err;
	struct logs logs = { 0 };
	struct split split;

	assert_true(logs_open(&logs, &about, &o, &err) >= 0);
	split_init(&split, &logs, &taker);
	s->split = &split;
	for (; bytes.n; bytes = str_skip(bytes, piece))
		assert_int_equal(split_add(&split, str_head(bytes, piece), &err), 0);
	assert_int_equal(split_end(&split, &err), 0);
	split_done(&split);
	logs_close(&logs);
}

static void seen_done(struct seen *s)
{
	buf_done(&s->front);
	buf_done(&s->tail);
	buf_done(&s->events);
}

static void both_ends_are_handed_on_raw(void **state)
{
	(void)state;
	for (size_t piece = 1; piece < sizeof(text); piece += 11) {
		struct seen s = { 0 };

		read_split(&s, str_of(text), piece);
		assert_true(str_eq(buf_str(&s.front),
				   STR("continued from before\n\tat a.B.c(B.java:1)\n")));
		assert_true(str_starts(buf_str(&s.tail), STR("2024-05-01 10:00:03")));
		assert_true(str_ends(buf_str(&s.tail), STR("next part\n")));
		assert_str_equal(buf_str(&s.events), "42+41 line 2 of 1\n84+50 line 3 of 2\n");
		assert_int_equal(s.tail_at, strstr(text, "2024-05-01 10:00:03") - text);
		seen_done(&s);
	}
}

static void a_part_without_any_event_is_all_front(void **state)
{
	struct seen s = { 0 };

	(void)state;
	read_split(&s, STR("\tat one\n\n\tat two"), 3);
	assert_true(str_eq(buf_str(&s.front), STR("\tat one\n\n\tat two\n")));
	assert_int_equal(s.tail.n, 0);
	assert_int_equal(s.events.n, 0);
	seen_done(&s);
}

static void an_empty_part_is_nothing(void **state)
{
	struct seen s = { 0 };

	(void)state;
	read_split(&s, STR(""), 3);
	assert_int_equal(s.front.n + s.tail.n + s.events.n, 0);
	seen_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ends_are_handed_on_raw),
		cmocka_unit_test(a_part_without_any_event_is_all_front),
		cmocka_unit_test(an_empty_part_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
