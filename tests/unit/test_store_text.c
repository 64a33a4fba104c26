#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"
#include "base/time.h"
#include "store/store.h"
#include "store_same.h"

enum { NR_LINES = 3000 };

static char dir[] = "/tmp/culprit-text-XXXXXX";

static int setup(void **state)
{
	(void)state;
	return mkdtemp(dir) && !chdir(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	unlink("a.log");
	unlink("b.log");
	unlink("grown.culprit");
	return chdir("/") || rmdir(dir);
}

static size_t line_of(char *to, int i)
{
	return (size_t)sprintf(to, "%d: a line of the log, %d times long%*s", i, i % 9, i % 40, "");
}

static struct file_seen seen_of(const char *path)
{
	struct file_seen seen = { .path = str_of(path), .format = STR("log4j") };
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	seen.bytes = (uint64_t)st.st_size;
	seen.mtime_ns = st.st_mtim.tv_sec * NS_S + st.st_mtim.tv_nsec;
	return seen;
}

/* Two files, one of them compressed in two members, and an event for each line. */
static struct store *make_run(uint32_t numbers[2])
{
	FILE *plain = fopen("a.log", "w");
	gzFile packed = gzopen("b.log", "w");
	struct error err = { 0 };
	struct store *s = NULL;
	char line[200];

	for (int i = 0; i < NR_LINES; i++) {
		line_of(line, i);
		fprintf(plain, "%s\n", line);
		gzprintf(packed, "%s\n", line);
		if (i == NR_LINES / 2) {
			gzclose(packed);
			packed = gzopen("b.log", "a");
		}
	}
	fclose(plain);
	gzclose(packed);
	OK(store_create(&s, NULL, &err));
	for (int i = 0; i < 2; i++) {
		struct file_seen seen = seen_of(i ? "b.log" : "a.log");
		struct sink sink = store_sink(s);

		OK(sink.file(sink.to, &seen, &numbers[i], &err));
	}
	OK(store_finish(s, &err));
	return s;
}

static struct event event_of(uint32_t file, int i)
{
	struct event ev = { .file = file };
	char line[200];

	for (int k = 0; k < i; k++)
		ev.offset += line_of(line, k) + 1;
	ev.length = line_of(line, i);
	return ev;
}

static void assert_shows(struct store *s, uint32_t file, int i)
{
	struct event ev = event_of(file, i);
	struct buf text = { 0 };
	struct error err = { 0 };
	char want[200];

	line_of(want, i);
	if (store_event_text(s, &ev, &text, &err) != 1)
		fail_msg("%s", err.msg);
	assert_str_equal(buf_str(&text), want);
	buf_done(&text);
}

static void assert_refuses(struct store *s, const struct event *ev, const char *why)
{
	struct buf text = { 0 };
	struct error err = { 0 };

	assert_int_equal(store_event_text(s, ev, &text, &err), 0);
	assert_int_equal(text.n, 0);
	if (!strstr(err.msg, why))
		fail_msg("'%s' does not say '%s'", err.msg, why);
	buf_done(&text);
}

static void lines_are_shown_from_plain_and_compressed_files_in_any_order(void **state)
{
	uint32_t numbers[2];
	struct store *s = make_run(numbers);

	(void)state;
	for (int f = 0; f < 2; f++) {
		for (int i = 0; i < NR_LINES; i += 100)
			assert_shows(s, numbers[f], i);
		assert_shows(s, numbers[f], NR_LINES - 1);
		assert_shows(s, numbers[f], 0);
		assert_shows(s, numbers[f], 0);
	}
	store_close(s);
}

static void a_file_is_found_from_another_directory(void **state)
{
	uint32_t numbers[2];
	struct store *s = make_run(numbers);

	(void)state;
	assert_int_equal(chdir("/"), 0);
	assert_shows(s, numbers[0], 7);
	assert_int_equal(chdir(dir), 0);
	store_close(s);
}

static void a_file_that_is_gone_changed_or_was_a_pipe_is_explained(void **state)
{
	struct file_seen in = { .path = STR("-") };
	uint32_t numbers[2], piped = 0;
	struct store *s = make_run(numbers);
	struct event ev = event_of(numbers[0], 3);
	struct error err = { 0 };
	struct sink sink;
	FILE *f;

	(void)state;
	ev.length = 1 << 30;
	assert_refuses(s, &ev, "shorter");
	store_close(s);
	s = make_run(numbers);
	f = fopen("a.log", "a");
	fputs("more\n", f);
	fclose(f);
	ev = event_of(numbers[0], 3);
	assert_refuses(s, &ev, "'a.log' has changed since it was read");
	unlink("b.log");
	ev = event_of(numbers[1], 3);
	assert_refuses(s, &ev, "'b.log' is gone");
	ev.file = 77;
	assert_refuses(s, &ev, "no file");
	ev.length = 0;
	assert_refuses(s, &ev, "no raw text");
	store_close(s);

	OK(store_create(&s, NULL, &err));
	sink = store_sink(s);
	OK(sink.file(sink.to, &in, &piped, &err));
	ev = event_of(piped, 3);
	assert_refuses(s, &ev, "standard input");
	store_close(s);
}

/* Writes "a.log" anew: lines from .. until - 1. */
static void write_log(const char *mode, int from, int until)
{
	FILE *f = fopen("a.log", mode);
	char line[200];

	assert_non_null(f);
	for (int i = from; i < until; i++) {
		line_of(line, i);
		fprintf(f, "%s\n", line);
	}
	fclose(f);
}

static void a_log_that_has_only_grown_still_shows_its_lines(void **state)
{
	struct store *s = NULL;
	struct error err = { 0 };
	struct file_seen seen;
	struct sink sink;
	struct event ev;
	uint32_t number;
	int fd;

	(void)state;
	write_log("w", 0, 50);
	seen = seen_of("a.log");
	fd = open("a.log", O_RDONLY | O_CLOEXEC);
	seen.mark = sink_mark(fd, seen.bytes);
	close(fd);
	OK(store_create(&s, "grown.culprit", &err));
	sink = store_sink(s);
	OK(sink.file(sink.to, &seen, &number, &err));
	OK(store_finish(s, &err));
	store_close(s);
	OK(store_open(&s, "grown.culprit", &err));
	write_log("a", 50, 60);
	assert_shows(s, number, 7);
	store_close(s);
	/* as long, but another one */
	write_log("w", 30, 99);
	OK(store_open(&s, "grown.culprit", &err));
	ev = event_of(number, 7);
	assert_refuses(s, &ev, "has changed");
	write_log("w", 0, 20);
	assert_refuses(s, &ev, "has changed");
	store_close(s);
}

static void an_event_with_a_text_of_its_own_needs_no_file(void **state)
{
	uint32_t numbers[2];
	struct store *s = make_run(numbers);
	struct event ev = { .text = STR("inside a trace") };
	struct buf text = { 0 };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(store_event_text(s, &ev, &text, &err), 1);
	assert_str_equal(buf_str(&text), "inside a trace");
	buf_done(&text);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_shown_from_plain_and_compressed_files_in_any_order),
		cmocka_unit_test(a_file_is_found_from_another_directory),
		cmocka_unit_test(a_file_that_is_gone_changed_or_was_a_pipe_is_explained),
		cmocka_unit_test(a_log_that_has_only_grown_still_shows_its_lines),
		cmocka_unit_test(an_event_with_a_text_of_its_own_needs_no_file),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
