#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "model/event.h"
#include "model/sink.h"
#include "source/input.h"
#include "source/source.h"

struct seen {
	uint64_t files, events, spans, bytes;
	char format[40];
	struct losses losses;
};

static int take_file(void *to, const struct file_seen *file, uint32_t *number, struct error *err)
{
	struct seen *s = to;

	(void)err;
	s->files++;
	snprintf(s->format, sizeof(s->format), STR_FMT, STR_ARG(file->format));
	*number = 0;
	return 0;
}

static int take_events(void *to, const struct event *events, size_t nr, struct error *err)
{
	(void)events;
	(void)err;
	((struct seen *)to)->events += nr;
	return 0;
}

static int take_spans(void *to, const struct span *spans, size_t nr, struct error *err)
{
	(void)spans;
	(void)err;
	((struct seen *)to)->spans += nr;
	return 0;
}

static void take_progress(void *to, uint64_t bytes)
{
	((struct seen *)to)->bytes += bytes;
}

static int read_bytes(struct seen *s, struct str bytes, const struct source_options *o,
		      struct error *err)
{
	struct sink sink = { s, take_file, take_events, take_spans, take_progress, &s->losses };
	char path[] = "/tmp/culprit-source-XXXXXX";
	int fd = mkstemp(path), r;

	*s = (struct seen){ 0 };
	assert_int_equal(write(fd, bytes.p, bytes.n), bytes.n);
	close(fd);
	r = source_read(path, o, &sink, err);
	unlink(path);
	return r;
}

static const struct source_options plain = { .zone = "UTC", .cores = 1 };

static void a_log_is_found_and_read(void **state)
{
	struct str text = STR("2026-11-15T09:31:15Z INFO a\n2026-11-15T09:31:16Z INFO b\n");
	struct error err = { 0 };
	struct seen s;

	(void)state;
	assert_int_equal(read_bytes(&s, text, &plain, &err), 1);
	assert_int_equal(s.files, 1);
	assert_int_equal(s.events, 2);
	assert_int_equal(s.bytes, text.n);
}

static void what_is_no_known_kind_is_passed_over_and_counted(void **state)
{
	struct error err = { 0 };
	struct seen s;
	char junk[3000];
	uint32_t x = 99;

	(void)state;
	for (size_t i = 0; i < sizeof(junk); i++) {
		x = x * 1664525 + 1013904223;
		junk[i] = (char)(x >> 23);
	}
	assert_int_equal(read_bytes(&s, (struct str){ junk, sizeof(junk) }, &plain, &err), 0);
	assert_int_equal(s.losses.count[LOSS_FILES_UNKNOWN], 1);
	assert_non_null(strstr(err.msg, "no trace, and no log"));
	assert_int_equal(s.files, 0);
	assert_int_equal(s.bytes, sizeof(junk));
	assert_int_equal(
		read_bytes(&s, STR("\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0>\0"), &plain, &err), 0);
	assert_int_equal(s.losses.count[LOSS_FILES_UNKNOWN], 1);
}

static void what_is_in_the_way_of_reading_is_told(void **state)
{
	struct error err = { 0 };
	struct seen s;

	(void)state;
	assert_int_equal(read_bytes(&s, STR("\n\n \r\n\n"), &plain, &err), 0);
	assert_non_null(strstr(err.msg, "blank"));
	/* a gzip of what begins like a gzip */
	assert_int_equal(read_bytes(&s,
				    STR("\x1f\x8b\x08\0\0\0\0\0\0\xff\x01\x04\0\xfb\xff"
					"\x1f\x8b\x08\x08\x8e\x6e\x5c\x02\x04\0\0\0"),
				    &plain, &err),
			 0);
	assert_non_null(strstr(err.msg, "compressed twice"));
}

static void an_archive_is_not_taken_for_one_log(void **state)
{
	char tar[1024] = "dn1.log";
	struct error err = { 0 };
	struct seen s;

	(void)state;
	memcpy(tar + 257, "ustar", 5);
	strcpy(tar + 512, "2026-11-15T09:31:15Z INFO a\n");
	assert_int_equal(read_bytes(&s, (struct str){ tar, sizeof(tar) }, &plain, &err), 0);
	assert_int_equal(s.losses.count[LOSS_FILES_UNKNOWN], 1);
	assert_non_null(strstr(err.msg, "unpack it first"));
}

static void empty_and_unreadable_files_are_told_apart(void **state)
{
	struct losses losses = { 0 };
	struct sink sink = { NULL, take_file, take_events, take_spans, NULL, &losses };
	struct error err = { 0 };
	struct seen s;

	(void)state;
	assert_int_equal(read_bytes(&s, STR(""), &plain, &err), 0);
	assert_int_equal(s.losses.count[LOSS_FILES_EMPTY], 1);
	assert_non_null(strstr(err.msg, "empty"));
	assert_int_equal(read_bytes(&s, STR("\x1f\x8b\x08\0garbage"), &plain, &err), 0);
	assert_int_equal(s.losses.count[LOSS_FILES_UNREADABLE], 1);
	assert_int_equal(source_read("/nowhere/at/all", &plain, &sink, &err), 0);
	assert_int_equal(losses.count[LOSS_FILES_UNREADABLE], 1);
	assert_non_null(strstr(err.msg, "/nowhere/at/all"));
}

static void a_pattern_makes_a_log_of_any_text(void **state)
{
	const struct source_options o = { .layout = "%d{HH-mm-ss} %m%n", .zone = "UTC" };
	struct str text = STR("10-11-12 hello\n10-11-13 again\n");
	struct error err = { 0 };
	struct seen s;

	(void)state;
	assert_int_equal(read_bytes(&s, text, &o, &err), 1);
	assert_int_equal(s.events, 2);
}

static void every_format_has_a_name_and_finds_nothing_in_nothing(void **state)
{
	size_t nr = 0;

	(void)state;
	for (; sources[nr]; nr++) {
		assert_true(sources[nr]->name[0] && sources[nr]->summary[0]);
		assert_int_equal(sources[nr]->sniff(STR(""), true), 0);
		assert_int_equal(sources[nr]->sniff(STR("\n\n"), true), 0);
	}
	assert_true(nr >= 8);
	assert_string_equal(sources[nr - 2]->name, "logs");
	assert_string_equal(sources[nr - 1]->name, "text");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_log_is_found_and_read),
		cmocka_unit_test(what_is_no_known_kind_is_passed_over_and_counted),
		cmocka_unit_test(what_is_in_the_way_of_reading_is_told),
		cmocka_unit_test(an_archive_is_not_taken_for_one_log),
		cmocka_unit_test(empty_and_unreadable_files_are_told_apart),
		cmocka_unit_test(a_pattern_makes_a_log_of_any_text),
		cmocka_unit_test(every_format_has_a_name_and_finds_nothing_in_nothing),
	};

	return RUN(tests);
}
