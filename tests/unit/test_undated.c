#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/time.h"
#include "home.h"
#include "model/event.h"
#include "model/sink.h"
#include "source/source.h"
#include "source/undated.h"

struct seen {
	struct event last;
	uint64_t nr_files, nr_events, bytes;
	char node[80], values[80], format[40];
	size_t asked_bytes;
	struct losses losses;
};

static int enter(void **state)
{
	return home_setup(state) || chdir(((struct home *)*state)->dir);
}

static int leave(void **state)
{
	return chdir("/") || home_teardown(state);
}

static int take_file(void *to, const struct file_seen *file, uint32_t *number, struct error *err)
{
	struct seen *s = to;

	(void)err;
	snprintf(s->format, sizeof(s->format), STR_FMT, STR_ARG(file->format));
	*number = (uint32_t)++s->nr_files;
	return 0;
}

static int take_events(void *to, const struct event *events, size_t nr, struct error *err)
{
	struct seen *s = to;

	(void)err;
	s->nr_events += nr;
	s->last = events[nr - 1];
	snprintf(s->node, sizeof(s->node), STR_FMT, STR_ARG(s->last.node));
	snprintf(s->values, sizeof(s->values), STR_FMT, STR_ARG(str_head(s->last.values, 70)));
	s->asked_bytes = s->last.values.n;
	return 0;
}

static void take_progress(void *to, uint64_t bytes)
{
	((struct seen *)to)->bytes += bytes;
}

static void find(const void *ctx, struct event *ev, struct str message, struct arena *arena)
{
	(void)ctx;
	ev->values = arena_str(arena, message);
}

static const struct statements known = { NULL, find, true };

static int read_as(struct seen *s, struct str bytes, bool is_found, struct error *err)
{
	const struct source_options o = {
		.zone = "UTC", .cores = 1, .statements = &known, .keeps_text = is_found
	};
	struct sink sink = { s, take_file, take_events, NULL, take_progress, &s->losses };
	int r;

	home_write("nm1-stderr", bytes);
	*s = (struct seen){ 0 };
	r = source_read("nm1-stderr", &o, &sink, err);
	unlink("nm1-stderr");
	return r;
}

static void a_file_that_shows_no_time_is_one_event(void **state)
{
	struct str text = STR("SLF4J: Class path contains\nSLF4J: more\n\nend\n\n");
	struct error err = { 0 };
	struct seen s;

	(void)state;
	/* kept, but no log that would make a run by itself */
	assert_int_equal(read_as(&s, text, true, &err), 0);
	assert_int_equal(err.code, ENOTSUP);
	assert_non_null(strstr(err.msg, "none of its lines shows a time"));
	assert_int_equal(s.nr_files, 1);
	assert_int_equal(s.nr_events, 1);
	assert_int_equal(s.last.ns, NS_NONE);
	assert_int_equal(s.last.kind, EVENT_LOG);
	assert_int_equal(s.last.level, LEVEL_NONE);
	assert_int_equal(s.last.key_kind, KEY_NONE);
	assert_int_equal(s.last.duration, -1);
	assert_int_equal(s.last.file, 1);
	assert_int_equal(s.last.line, 1);
	assert_int_equal(s.last.nr_lines, 5);
	assert_int_equal(s.last.offset, 0);
	assert_int_equal(s.last.length, text.n - 1);
	assert_int_equal(s.bytes, text.n);
	assert_string_equal(s.format, "text without times");
	assert_string_equal(s.node, "nm1-stderr");
	assert_true(str_eq(str_of(s.values), text));
	assert_int_equal(s.losses.count[LOSS_FILES_NO_TIME], 1);
	assert_int_equal(s.losses.count[LOSS_FILES_UNKNOWN], 0);
	assert_int_equal(s.losses.count[LOSS_LINES_NO_STATEMENT], 1);
}

static void a_last_line_without_its_end_is_a_line(void **state)
{
	struct error err = { 0 };
	struct seen s;

	(void)state;
	assert_int_equal(read_as(&s, STR("one\r\ntwo"), true, &err), 0);
	assert_int_equal(s.last.nr_lines, 2);
	assert_int_equal(s.last.length, 8);
	assert_int_equal(read_as(&s, STR("x"), true, &err), 0);
	assert_int_equal(s.last.nr_lines, 1);
	assert_int_equal(s.last.length, 1);
}

static void what_the_user_named_is_still_no_log(void **state)
{
	struct error err = { 0 };
	struct seen s;

	(void)state;
	assert_int_equal(read_as(&s, STR("no time\nanywhere\n"), false, &err), 0);
	assert_non_null(strstr(err.msg, "no trace, and no log"));
	assert_int_equal(s.nr_events, 0);
	assert_int_equal(s.losses.count[LOSS_FILES_UNKNOWN], 1);
	assert_int_equal(s.losses.count[LOSS_FILES_NO_TIME], 0);
}

static void a_log_stays_a_log(void **state)
{
	struct error err = { 0 };
	struct seen s;

	(void)state;
	assert_int_equal(read_as(&s, STR("2026-11-15T09:31:15Z INFO a\n"), true, &err), 1);
	assert_int_not_equal(s.last.ns, NS_NONE);
	assert_int_equal(s.losses.count[LOSS_FILES_NO_TIME], 0);
}

static void what_is_no_text_is_passed_over(void **state)
{
	struct error err = { 0 };
	struct buf b = { 0 };
	struct seen s;

	(void)state;
	assert_int_equal(read_as(&s, STR("some text\n\0\n"), true, &err), 0);
	assert_int_equal(s.losses.count[LOSS_FILES_UNKNOWN], 1);
	assert_int_equal(read_as(&s, STR("\n \n"), true, &err), 0);
	assert_non_null(strstr(err.msg, "blank"));
	assert_int_equal(s.losses.count[LOSS_FILES_UNKNOWN], 1);
	assert_int_equal(read_as(&s, STR("\xff\xd8\xff\xe0\x10JFIF\x01\x01"), true, &err), 0);
	assert_int_equal(s.losses.count[LOSS_FILES_UNKNOWN], 1);
	/* a byte that no text has, far behind the head */
	while (b.n < (size_t)1 << 20)
		buf_add(&b, STR("a line of text\n"));
	buf_char(&b, 0);
	assert_int_equal(read_as(&s, buf_str(&b), true, &err), 0);
	assert_int_equal(s.nr_files + s.nr_events, 0);
	assert_int_equal(s.losses.count[LOSS_FILES_UNKNOWN], 1);
	assert_int_equal(s.bytes, b.n);
	buf_done(&b);
}

static void of_a_long_file_only_the_front_is_asked_about(void **state)
{
	struct error err = { 0 };
	struct buf b = { 0 };
	struct seen s;

	(void)state;
	while (b.n < (size_t)1 << 20)
		buf_add(&b, STR("caf\xc3\xa9\n"));
	assert_int_equal(read_as(&s, buf_str(&b), true, &err), 0);
	assert_int_equal(s.last.nr_lines, b.n / 6);
	assert_int_equal(s.asked_bytes, 8 << 10);
	buf_done(&b);
}

static void more_than_a_program_says_is_data(void **state)
{
	struct sink sink = { 0 };
	const struct source_options o = { .keeps_text = true };
	struct error err = { 0 };
	struct seen s = { 0 };
	FILE *f = fopen("data", "w");

	(void)state;
	sink = (struct sink){ &s, take_file, take_events, NULL, take_progress, &s.losses };
	for (int i = 0; i <= 64 << 10; i++)
		fprintf(f, "%01023d\n", i);
	fclose(f);
	assert_int_equal(source_read("data", &o, &sink, &err), 0);
	unlink("data");
	assert_int_equal(s.nr_files + s.nr_events, 0);
	assert_int_equal(s.losses.count[LOSS_FILES_UNKNOWN], 1);
	assert_int_equal(s.bytes, ((64 << 10) + 1) << 10);
}

/* Of a directory that was given, not of files, whatever stands beside them. */
static void only_files_that_were_found_are_kept_so(void **state)
{
	char dir[] = "logs", file[] = "logs/stderr", *args[] = { dir, file };
	const struct source_options o = { .cores = 1 };

	(void)state;
	mkdir("logs", 0700);
	home_write("logs/empty", STR(""));
	home_write(file, STR("no time\n"));
	for (int i = 0; i < 2; i++) {
		struct source_list list = { 0 };
		struct error err = { 0 };
		struct seen s = { 0 };
		struct sink sink = { &s, take_file, take_events, NULL, NULL, &s.losses };

		assert_int_equal(source_expand(args + i, 1, &list, &err), 0);
		for (size_t k = 0; k < list.nr; k++)
			assert_int_equal(source_read_listed(&list, k, &o, &sink, &err), 0);
		assert_int_equal(s.nr_events, i == 0);
		source_list_done(&list);
	}
}

#define HERE(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HERE(a_file_that_shows_no_time_is_one_event),
		HERE(a_last_line_without_its_end_is_a_line),
		HERE(what_the_user_named_is_still_no_log),
		HERE(a_log_stays_a_log),
		HERE(what_is_no_text_is_passed_over),
		HERE(of_a_long_file_only_the_front_is_asked_about),
		HERE(more_than_a_program_says_is_data),
		HERE(only_files_that_were_found_are_kept_so),
	};

	return RUN(tests);
}
