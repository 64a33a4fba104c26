#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"
#include "base/time.h"
#include "model/event.h"
#include "model/sink.h"
#include "source/follow.h"
#include "source/input.h"
#include "source/source.h"

#define REST_NS (10 * NS_S)

/* Lines are numbered by their milliseconds; so many are more than the head of a file. */
enum { LINES = 6000, LINE_BYTES = 57 };

struct fixture {
	char dir[64];
	struct follow *follow;
	struct follow_options o;
	char *args[2];
	int64_t now;
	int first, nr;    /* of the events that came, which must count up */
	int64_t behind;   /* how far their lines are behind their numbers */
	int nr_files;     /* that were begun */
	char path[64];    /* as told last */
	struct error err; /* of the last reading */
};

static int enter(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));

	strcpy(x->dir, "/tmp/culprit-follow-on-XXXXXX");
	if (!mkdtemp(x->dir) || chdir(x->dir) || mkdir("d", 0700))
		return -1;
	x->args[0] = strdup("d");
	x->o = (struct follow_options){ .args = x->args,
					.nr_args = 1,
					.rest_ns = REST_NS,
					.open_max = 100,
					.kept_bytes = 1 << 20 };
	x->follow = follow_new(&x->o);
	*state = x;
	return 0;
}

static int leave(void **state)
{
	struct fixture *x = *state;
	char command[100];
	int r;

	follow_free(x->follow);
	snprintf(command, sizeof(command), "rm -rf '%s'", x->dir);
	r = chdir("/") || system(command);
	free(x->args[0]);
	free(x);
	return r;
}

static FILE *open_file(const char *path, const char *mode)
{
	FILE *f = fopen(path, mode);

	if (!f)
		abort(); /* which a checker of the code understands, unlike an assertion */
	return f;
}

static void write_lines(const char *path, int from, int until)
{
	FILE *f = open_file(path, "a");

	for (int i = from; i < until; i++)
		fprintf(f, "2024-05-01 10:%02d:%02d,%03d INFO [main] shop.Cart: line %04d\n",
			i / 60000, i / 1000 % 60, i % 1000, i);
	fclose(f);
}

static void write_text(const char *path, const char *text)
{
	FILE *f = open_file(path, "a");

	fputs(text, f);
	fclose(f);
}

static void pack(const char *from, const char *to)
{
	FILE *f = open_file(from, "r");
	gzFile g = gzopen(to, "w");
	int c;

	while ((c = getc(f)) != EOF)
		gzputc(g, c);
	fclose(f);
	gzclose(g);
}

static void note_path(struct fixture *x, const struct file_seen *f)
{
	snprintf(x->path, sizeof(x->path), "%.*s", (int)f->path.n, f->path.p);
}

static int take_file(void *to, const struct file_seen *f, uint32_t *number, struct error *err)
{
	struct fixture *x = to;

	(void)err;
	*number = (uint32_t)++x->nr_files;
	note_path(x, f);
	return 0;
}

static int take_again(void *to, uint32_t number, const struct file_seen *f, struct error *err)
{
	struct fixture *x = to;

	(void)err;
	assert_in_range(number, 1, x->nr_files);
	note_path(x, f);
	return 0;
}

static int take_events(void *to, const struct event *ev, size_t nr, struct error *err)
{
	struct fixture *x = to;

	(void)err;
	for (size_t i = 0; i < nr; i++) {
		int number = (int)(ev[i].ns / NS_MS % (3600 * 1000));

		if (!x->nr++)
			x->first = number;
		assert_int_equal(number, x->first + x->nr - 1);
		x->behind = (int64_t)ev[i].line - number;
	}
	return 0;
}

/* Looks, and reads of each file on, or all that is left of it. Events that came are counted. */
static int read_some(struct fixture *x, bool is_rest)
{
	const struct source_options o = { .zone = "UTC", .cores = 1 };
	struct losses losses = { 0 };
	struct sink sink = { .to = x,
			     .file = take_file,
			     .events = take_events,
			     .losses = &losses,
			     .again = take_again };
	struct error trouble = { 0 };
	bool has_more;
	size_t nr;
	int r = 0;

	x->now += NS_S;
	follow_look(x->follow, x->now, &trouble);
	nr = follow_take(x->follow, x->now, false, &has_more);
	x->nr = 0;
	for (size_t i = 0; i < nr && r >= 0; i++)
		r = is_rest ? follow_read(x->follow, i, &o, &sink, &x->err)
			    : follow_read_on(x->follow, i, x->now, &o, &sink, &x->err);
	return r;
}

static void reads_on(struct fixture *x, int from, int until)
{
	assert_true(read_some(x, false) >= 0);
	assert_int_equal(x->nr, until - from);
	if (x->nr)
		assert_int_equal(x->first, from);
}

static void rest_is(struct fixture *x, int from, int until)
{
	assert_true(read_some(x, true) >= 0);
	assert_int_equal(x->nr, until - from);
	if (x->nr)
		assert_int_equal(x->first, from);
}

static void what_was_read_is_read_on_and_the_last_event_waits(void **state)
{
	struct fixture *x = *state;

	write_lines("d/app.log", 0, LINES);
	reads_on(x, 0, LINES - 1);
	assert_int_equal(x->behind, 1);
	reads_on(x, 0, 0);
	write_text("d/app.log", "\tat of the event before\n");
	reads_on(x, 0, 0);
	write_lines("d/app.log", LINES, LINES + 10);
	reads_on(x, LINES - 1, LINES + 9);
	/* a line more of the event before: lines go on where they were */
	assert_int_equal(x->behind, 2);
	rest_is(x, LINES + 9, LINES + 10);
	assert_int_equal(x->nr_files, 1);
}

static void half_a_line_waits(void **state)
{
	struct fixture *x = *state;

	write_lines("d/app.log", 0, LINES);
	write_text("d/app.log", "2024-05-01 10:00:06,0");
	reads_on(x, 0, LINES - 1);
	write_text("d/app.log", "00 INFO [main] shop.Cart: line 6000\n");
	reads_on(x, LINES - 1, LINES);
	rest_is(x, LINES, LINES + 1);
}

static void what_is_small_is_read_anew_each_time(void **state)
{
	struct fixture *x = *state;

	assert_true(100 * LINE_BYTES < INPUT_HEAD_BYTES);
	assert_true(LINES * LINE_BYTES > INPUT_HEAD_BYTES);
	write_lines("d/app.log", 0, 100);
	reads_on(x, 0, 0);
	rest_is(x, 0, 100);
	rest_is(x, 0, 100);
	write_lines("d/app.log", 100, LINES);
	reads_on(x, 0, LINES - 1);
	rest_is(x, LINES - 1, LINES);
}

static void what_is_renamed_is_read_to_its_end_and_then_the_next(void **state)
{
	struct fixture *x = *state;

	write_lines("d/app.log", 0, LINES);
	reads_on(x, 0, LINES - 1);
	rename("d/app.log", "d/app.log.1");
	write_lines("d/app.log", LINES, 2 * LINES);
	/* somebody may still write to it: those behind it wait */
	reads_on(x, 0, 0);
	assert_string_equal(x->path, "d/app.log.1");
	x->now += REST_NS;
	reads_on(x, LINES - 1, 2 * LINES - 1);
	assert_int_equal(x->nr_files, 2);
	rest_is(x, 2 * LINES - 1, 2 * LINES);
}

static void what_is_packed_is_read_on_in_the_packed_file(void **state)
{
	struct fixture *x = *state;

	write_lines("d/app.log", 0, LINES);
	reads_on(x, 0, LINES - 1);
	write_lines("d/app.log", LINES, LINES + 10);
	rename("d/app.log", "d/app.log.1");
	write_lines("d/app.log", LINES + 10, LINES + 20);
	pack("d/app.log.1", "d/app.log.1.gz");
	reads_on(x, LINES - 1, LINES + 9);
	unlink("d/app.log.1");
	x->now += REST_NS;
	reads_on(x, LINES + 9, LINES + 10);
	assert_string_equal(x->path, "d/app.log.1.gz");
	rest_is(x, LINES + 10, LINES + 20);
}

/* The same size and the same beginning, but not what was read. */
static void what_was_written_over_is_stale_until_all_is_forgotten(void **state)
{
	struct fixture *x = *state;
	int fd;

	write_lines("d/app.log", 0, LINES);
	reads_on(x, 0, LINES - 1);
	fd = open("d/app.log", O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "LINE", 4, (LINES - 1) * LINE_BYTES - 10), 4);
	close(fd);
	write_lines("d/app.log", LINES, LINES + 1);
	assert_int_equal(read_some(x, false), -ESTALE);
	assert_int_equal(x->nr, 0);
	assert_non_null(strstr(x->err.msg, "was replaced"));
	follow_forget(x->follow);
	reads_on(x, 0, LINES);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_read_is_read_on_and_the_last_event_waits),
		TEST(half_a_line_waits),
		TEST(what_is_small_is_read_anew_each_time),
		TEST(what_is_renamed_is_read_to_its_end_and_then_the_next),
		TEST(what_is_packed_is_read_on_in_the_packed_file),
		TEST(what_was_written_over_is_stale_until_all_is_forgotten),
	};

	return RUN(tests);
}
