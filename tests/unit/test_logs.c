#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/time.h"
#include "model/event.h"
#include "model/sink.h"
#include "source/formats.h"
#include "source/input.h"

struct seen {
	struct str text;
	struct buf raw; /* the raw text of each event, in [] */
	struct buf nodes, keys;
	struct buf values; /* in [], behind the number of the statement */
	uint64_t nr, lines;
	int64_t first_ns;
	struct losses losses;
};

static int take_file(void *to, const struct file_seen *file, uint32_t *number, struct error *err)
{
	(void)to;
	(void)err;
	assert_true(file->format.n > 0);
	*number = 3;
	return 0;
}

static int take_events(void *to, const struct event *events, size_t nr, struct error *err)
{
	struct seen *s = to;

	(void)err;
	for (size_t i = 0; i < nr; i++) {
		const struct event *ev = &events[i];

		assert_int_equal(ev->kind, EVENT_LOG);
		assert_int_equal(ev->file, 3);
		if (!s->nr++)
			s->first_ns = ev->ns;
		s->lines += ev->nr_lines;
		if (ev->length < 200) {
			buf_char(&s->raw, '[');
			buf_add(&s->raw, str_head(str_skip(s->text, ev->offset), ev->length));
			buf_char(&s->raw, ']');
		}
		if (ev->values.n)
			buf_fmt(&s->values, "%u[" STR_FMT "]", ev->statement, STR_ARG(ev->values));
		buf_add(&s->nodes, ev->node);
		buf_char(&s->nodes, ' ');
		buf_add(&s->keys, ev->key);
		buf_char(&s->keys, ' ');
	}
	return 0;
}

static int read_text(struct seen *s, const char *path, struct str text,
		     const struct source_options *o)
{
	struct sink sink = { s, take_file, take_events, NULL, NULL, &s->losses };
	struct error err = { 0 };
	struct input *in;
	int r;

	*s = (struct seen){ .text = text };
	assert_int_equal(input_of_bytes(&in, path, text, &err), 0);
	r = source_logs.read(in, o, &sink, &err);
	input_close(in);
	return r;
}

static void seen_done(struct seen *s)
{
	buf_done(&s->raw);
	buf_done(&s->nodes);
	buf_done(&s->keys);
	buf_done(&s->values);
}

static const struct source_options utc = { .zone = "UTC", .cores = 2 };

/* Knows the statement that writes texts which begin with "t", and says what it was asked. */
static void find(const void *ctx, struct event *ev, struct str message, struct arena *arena)
{
	assert_ptr_equal(ctx, &utc);
	ev->statement = message.n && message.p[0] == 't' ? 7 : 0;
	ev->values = arena_str(arena, message);
}

static const struct statements known = { &utc, find, true };
static const struct source_options asking = { .zone = "UTC", .cores = 2, .statements = &known };

#define A "2026-11-15 09:31:15,045 INFO  [main] a.B: "

static void stack_traces_belong_to_their_line(void **state)
{
	struct seen s;

	(void)state;
	assert_int_equal(read_text(&s, "dn1.log",
				   STR(A "one\n" A "two\njava.lang.X: y\n\tat a.B(B.java:1)\n\n" A
					 "request_id=r7 three"),
				   &utc),
			 0);
	assert_str_equal(buf_str(&s.raw),
			 "[" A "one][" A "two\njava.lang.X: y\n\tat a.B(B.java:1)\n][" A
			 "request_id=r7 three]");
	assert_int_equal(s.lines, 6);
	assert_str_equal(buf_str(&s.nodes), "dn1 dn1 dn1 ");
	assert_str_equal(buf_str(&s.keys), "  r7 ");
	assert_int_equal(s.first_ns, 1794735075045 * NS_MS);
	seen_done(&s);
}

static void what_is_odd_is_kept_and_counted(void **state)
{
	struct seen s;

	(void)state;
	assert_int_equal(read_text(&s, "nm1/syslog.1",
				   STR("header\n" A "a\r\n" A "nul \0 x\n" A "caf\xc3\xa9\n" A
				       "latin \xe9\n"),
				   &utc),
			 0);
	assert_int_equal(s.nr, 5);
	assert_int_equal(s.first_ns, NS_NONE);
	assert_int_equal(s.losses.count[LOSS_LINES_NO_TIME], 1);
	assert_int_equal(s.losses.count[LOSS_LINES_NUL], 1);
	assert_int_equal(s.losses.count[LOSS_LINES_NOT_UTF8], 1);
	assert_true(str_starts(buf_str(&s.raw), STR("[header][" A "a][")));
	assert_true(str_starts(buf_str(&s.nodes), STR("nm1/syslog nm1/syslog ")));
	seen_done(&s);
}

static void blank_lines_are_of_the_event_before(void **state)
{
	struct seen s;

	(void)state;
	assert_int_equal(read_text(&s, "x.log", STR("\n" A "one\n\n\r\n" A "two\n\n\n\n\n\n\n\n\n"),
				   &asking),
			 0);
	assert_int_equal(s.nr, 2);
	assert_int_equal(s.lines, 3 + 9);
	assert_str_equal(buf_str(&s.raw), "[" A "one\n\n][" A "two\n\n\n\n\n\n\n\n]");
	assert_str_equal(buf_str(&s.values), "0[one]7[two]");
	seen_done(&s);
}

static void a_pattern_of_the_user_is_used(void **state)
{
	const struct source_options o = { .layout = "%p;%t;%d{yyyy-MM-dd HH:mm:ss.SSS};%m%n",
					  .zone = "+01:00",
					  .cores = 1 };
	struct seen s;

	(void)state;
	assert_int_equal(read_text(&s, "x", STR("INFO;t;2026-11-15 10:31:15.045;hello\n"), &o), 0);
	assert_int_equal(s.nr, 1);
	assert_int_equal(s.first_ns, 1794735075045 * NS_MS);
	seen_done(&s);
}

static void a_line_of_many_megabytes_is_one_event(void **state)
{
	struct buf text = { 0 };
	struct seen s;

	(void)state;
	buf_fmt(&text, A "%0*d\n" A "next\n", 5 << 20, 0);
	assert_int_equal(read_text(&s, "x", buf_str(&text), &utc), 0);
	assert_int_equal(s.nr, 2);
	assert_int_equal(s.losses.count[LOSS_LINES_CUT], 1);
	assert_str_equal(buf_str(&s.raw), "[" A "next]");
	buf_done(&text);
	seen_done(&s);
}

static void only_text_with_times_is_a_log(void **state)
{
	char junk[4000];
	uint32_t x = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(junk); i++) {
		x = x * 1664525 + 1013904223;
		junk[i] = (char)(x >> 24);
	}
	assert_int_equal(source_logs.sniff((struct str){ junk, sizeof(junk) }, false), 0);
	memcpy(junk, A "looks good\n", sizeof(A "looks good\n") - 1);
	assert_int_equal(source_logs.sniff((struct str){ junk, sizeof(junk) }, false), 0);
	assert_int_equal(source_logs.sniff(STR("no time\nanywhere\n"), true), 0);
	assert_int_equal(source_logs.sniff(STR(""), true), 0);
	assert_true(source_logs.sniff(STR(A "x\n" A "y\n"), true) > 0);
}

static void statements_are_asked_for_with_all_lines_of_the_message(void **state)
{
	struct seen s;

	(void)state;
	assert_int_equal(
		read_text(&s, "dn1.log",
			  STR("before\n" A "one\r\n" A "two\njava.lang.X: y\n\tat z\n\n" A "three"),
			  &asking),
		0);
	assert_str_equal(buf_str(&s.values),
			 "0[before]0[one]7[two\njava.lang.X: y\n\tat z]7[three]");
	assert_int_equal(s.losses.count[LOSS_LINES_NO_STATEMENT], 2);
	seen_done(&s);
	/* nobody knows any: nobody counts */
	assert_int_equal(read_text(&s, "dn1.log", STR(A "one\n" A "two"), &utc), 0);
	assert_int_equal(s.losses.count[LOSS_LINES_NO_STATEMENT], 0);
	assert_int_equal(s.values.n, 0);
	seen_done(&s);
}

static void the_message_is_found_in_every_layout(void **state)
{
	static const struct {
		struct str text;
		const char *values;
	} cases[] = {
		{ STR("{\"@timestamp\":\"2026-11-15T09:31:15Z\",\"level\":\"INFO\",\"message\":"
		      "\"tab\\there\",\"logger_name\":\"a.B\"}\n"),
		  "7[tab\there]" },
		{ STR("{\"log\":\"" A "two\\n\",\"stream\":\"stdout\","
		      "\"time\":\"2026-11-15T09:31:15.045Z\"}\n"),
		  "7[two]" },
		{ STR("2026-11-15T09:31:15.045Z stdout F " A "two\n"), "7[two]" },
		{ STR("\x1b[32m" A "\x1b[0mtwo\nmore\n"), "7[two]" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct seen s;

		assert_int_equal(read_text(&s, "x.log", cases[i].text, &asking), 0);
		assert_str_equal(buf_str(&s.values), cases[i].values);
		seen_done(&s);
	}
}

/* The last event of a chunk outlives it. */
static void values_outlive_their_chunk(void **state)
{
	struct buf text = { 0 };
	struct seen s;
	size_t nr = 0;

	(void)state;
	for (; text.n < ((size_t)5 << 20); nr++)
		buf_add(&text, STR(A "two and so on\n"));
	assert_int_equal(read_text(&s, "x.log", buf_str(&text), &asking), 0);
	assert_int_equal(s.nr, nr);
	assert_int_equal(s.values.n, nr * strlen("7[two and so on]"));
	for (size_t i = 0; i < nr; i++)
		assert_memory_equal(s.values.p + i * 16, "7[two and so on]", 16);
	assert_int_equal(s.losses.count[LOSS_LINES_NO_STATEMENT], 0);
	seen_done(&s);
	buf_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stack_traces_belong_to_their_line),
		cmocka_unit_test(what_is_odd_is_kept_and_counted),
		cmocka_unit_test(blank_lines_are_of_the_event_before),
		cmocka_unit_test(a_pattern_of_the_user_is_used),
		cmocka_unit_test(a_line_of_many_megabytes_is_one_event),
		cmocka_unit_test(only_text_with_times_is_a_log),
		cmocka_unit_test(statements_are_asked_for_with_all_lines_of_the_message),
		cmocka_unit_test(the_message_is_found_in_every_layout),
		cmocka_unit_test(values_outlive_their_chunk),
	};

	return RUN(tests);
}
