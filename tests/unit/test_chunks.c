/* A toy format: a line that begins with '>' begins an event, any other goes on with it. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/time.h"
#include "model/sink.h"
#include "source/chunks.h"
#include "source/input.h"
#include "source/lines.h"

struct seen {
	struct str text; /* the whole input */
	struct buf log;  /* "line+nr_lines:raw text" of each event */
	uint64_t nr, progress;
	uint64_t next_offset;
	size_t stop_after;
	struct losses losses;
};

static void parse(void *ctx, struct batch *b)
{
	struct lines l = lines_of(b->bytes);
	uint64_t nr = b->first_line;
	struct line line;

	(void)ctx;
	for (; lines_next(&l, &line); nr++) {
		uint64_t at = (uint64_t)(line.text.p - b->bytes.p);
		struct event *last = b->events.nr ? &b->events.v[b->events.nr - 1] : NULL;

		if (str_starts(line.text, STR(">"))) {
			vec_push(&b->events, (struct event){ .line = nr,
							     .nr_lines = 1,
							     .offset = b->offset + at,
							     .length = line.text.n,
							     .point = str_head(line.text, 5) });
		} else if (last) {
			last->length = b->offset + at + line.text.n - last->offset;
			last->nr_lines = (uint32_t)(nr - last->line + 1);
		} else {
			b->continued_bytes = at + line.text.n;
			b->continued_lines = (uint32_t)(nr - b->first_line + 1);
		}
	}
	if (nr != b->first_line + b->nr_lines)
		b->losses.count[LOSS_LINES_BROKEN]++;
}

static void begin_undated(void *ctx, struct batch *b, struct str text, struct event *ev)
{
	(void)ctx;
	*ev = (struct event){ .ns = NS_NONE, .point = arena_str(&b->arena, str_head(text, 3)) };
}

static int take(void *to, const struct event *events, size_t nr, struct error *err)
{
	struct seen *s = to;

	for (size_t i = 0; i < nr; i++) {
		const struct event *ev = &events[i];
		struct str raw = str_head(str_skip(s->text, ev->offset), ev->length);

		if (s->stop_after && s->nr >= s->stop_after)
			return error_set(err, ENOSPC, "full");
		assert_true(ev->offset >= s->next_offset && ev->offset + ev->length <= s->text.n);
		assert_true(str_starts(raw, ev->point));
		s->next_offset = ev->offset + ev->length;
		if (raw.n < 100)
			buf_fmt(&s->log, "%d+%d:%.*s;", (int)ev->line, (int)ev->nr_lines,
				(int)raw.n, raw.p);
		else
			buf_fmt(&s->log, "%d+%d:%d bytes;", (int)ev->line, (int)ev->nr_lines,
				(int)raw.n);
		s->nr++;
	}
	return 0;
}

static void progress(void *to, uint64_t bytes)
{
	((struct seen *)to)->progress += bytes;
}

static int read_it(struct seen *s, struct str text, size_t line_bytes_max, unsigned cores,
		   struct error *err)
{
	const struct chunk_format format = { .line_bytes_max = line_bytes_max,
					     .parse = parse,
					     .begin_undated = begin_undated };
	struct sink sink = { s, NULL, take, NULL, progress, &s->losses };
	struct input *in;
	int r;

	buf_done(&s->log);
	*s = (struct seen){ .text = text, .stop_after = s->stop_after };
	assert_int_equal(input_of_bytes(&in, "x", text, err), 0);
	r = chunks_read(in, &format, cores, &sink, err);
	input_close(in);
	return r;
}

static void an_event_keeps_the_lines_that_follow_it(void **state)
{
	struct str text = STR("head\n\n>a\n  at x\n\n>b\r\n>c\nmore");
	struct error err = { 0 };
	struct seen s = { 0 };

	(void)state;
	assert_int_equal(read_it(&s, text, 1 << 20, 1, &err), 0);
	assert_str_equal(buf_str(&s.log), "1+2:head\n;3+3:>a\n  at x\n;6+1:>b;7+2:>c\nmore;");
	assert_int_equal(s.losses.count[LOSS_LINES_NO_TIME], 2);
	assert_int_equal(s.progress, text.n);
	buf_done(&s.log);
}

static void lines_in_front_of_the_first_event_are_one(void **state)
{
	static const struct {
		struct str text;
		const char *log;
		uint64_t nr;
	} cases[] = {
		{ STR("\n\r\none\n\ntwo\n>a\n"), "3+3:one\n\ntwo;6+1:>a;", 3 },
		{ STR("one\ntwo"), "1+2:one\ntwo;", 2 },
		{ STR("\n\n>a"), "3+1:>a;", 0 },
		{ STR("\n\n"), "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (size_t most = 3; most < 20; most++) {
			struct error err = { 0 };
			struct seen s = { 0 };

			assert_int_equal(read_it(&s, cases[i].text, most, 1, &err), 0);
			assert_str_equal(buf_str(&s.log), cases[i].log);
			assert_int_equal(s.losses.count[LOSS_LINES_NO_TIME], cases[i].nr);
			buf_done(&s.log);
		}
}

/* The same answer whatever the size of a chunk and the number of threads. */
static void it_does_not_matter_where_chunks_are_cut(void **state)
{
	struct buf text = { 0 };
	struct error err = { 0 };
	struct seen whole = { 0 }, cut = { 0 };
	uint32_t x = 7;

	(void)state;
	for (int i = 0; i < 400; i++) {
		x = x * 1664525 + 1013904223;
		buf_fmt(&text, "%s%d %.*s\n", x >> 30 ? "" : ">", i, (int)(x >> 20) % 30,
			"abcdefghijklmnopqrstuvwxyzabcdefghijk");
	}
	assert_int_equal(read_it(&whole, buf_str(&text), 1 << 20, 1, &err), 0);
	assert_true(whole.nr > 50);
	for (size_t most = 48; most < 2000; most += 97)
		for (unsigned cores = 1; cores < 4; cores++) {
			assert_int_equal(read_it(&cut, buf_str(&text), most, cores, &err), 0);
			assert_true(str_eq(buf_str(&cut.log), buf_str(&whole.log)));
			assert_int_equal(cut.losses.count[LOSS_LINES_BROKEN], 0);
			assert_int_equal(cut.losses.count[LOSS_LINES_CUT], 0);
			assert_int_equal(cut.losses.count[LOSS_LINES_NO_TIME],
					 whole.losses.count[LOSS_LINES_NO_TIME]);
		}
	buf_done(&text);
	buf_done(&whole.log);
	buf_done(&cut.log);
}

static void a_line_too_long_is_cut_but_referred_to_as_a_whole(void **state)
{
	struct buf text = { 0 };
	struct error err = { 0 };
	struct seen s = { 0 };

	(void)state;
	buf_fmt(&text, ">a\n>%0*d\n>b\n%0*d\n>c", 4999, 0, 3000, 0);
	for (unsigned cores = 1; cores < 3; cores++) {
		assert_int_equal(read_it(&s, buf_str(&text), 64, cores, &err), 0);
		assert_str_equal(buf_str(&s.log), "1+1:>a;2+1:5000 bytes;3+2:3003 bytes;5+1:>c;");
		assert_int_equal(s.losses.count[LOSS_LINES_CUT], 2);
	}
	buf_done(&text);
	buf_done(&s.log);
}

static void a_line_of_just_the_limit_is_whole(void **state)
{
	struct error err = { 0 };
	struct seen s = { 0 };

	(void)state;
	assert_int_equal(read_it(&s, STR(">234567\n>b"), 7, 1, &err), 0);
	assert_int_equal(s.losses.count[LOSS_LINES_CUT], 0);
	assert_str_equal(buf_str(&s.log), "1+1:>234567;2+1:>b;");
	assert_int_equal(read_it(&s, STR(">2345678\n>b"), 7, 1, &err), 0);
	assert_int_equal(s.losses.count[LOSS_LINES_CUT], 1);
	assert_str_equal(buf_str(&s.log), "1+1:>2345678;2+1:>b;");
	assert_int_equal(read_it(&s, STR(">b\n>234567"), 7, 1, &err), 0);
	assert_int_equal(s.losses.count[LOSS_LINES_CUT], 0);
	buf_done(&s.log);
}

static void a_failure_of_the_sink_is_handed_on(void **state)
{
	struct error err = { 0 };
	struct seen s = { .stop_after = 2 };

	(void)state;
	assert_int_equal(read_it(&s, STR(">a\n>b\n>c\n>d\n"), 8, 2, &err), -ENOSPC);
	assert_string_equal(err.msg, "full");
	buf_done(&s.log);
}

static void nothing_gives_nothing(void **state)
{
	struct error err = { 0 };
	struct seen s = { 0 };

	(void)state;
	assert_int_equal(read_it(&s, STR(""), 8, 2, &err), 0);
	assert_int_equal(s.nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_keeps_the_lines_that_follow_it),
		cmocka_unit_test(lines_in_front_of_the_first_event_are_one),
		cmocka_unit_test(it_does_not_matter_where_chunks_are_cut),
		cmocka_unit_test(a_line_too_long_is_cut_but_referred_to_as_a_whole),
		cmocka_unit_test(a_line_of_just_the_limit_is_whole),
		cmocka_unit_test(a_failure_of_the_sink_is_handed_on),
		cmocka_unit_test(nothing_gives_nothing),
	};

	return RUN(tests);
}
