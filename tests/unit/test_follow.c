#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/time.h"
#include "model/event.h"
#include "model/sink.h"
#include "source/follow.h"
#include "source/follow_watch.h"
#include "source/source.h"

#define REST_NS (10 * NS_S)

struct fixture {
	char dir[64];
	struct follow *follow;
	struct follow_options o;
	char *args[2];
	int64_t now;
	struct buf got; /* names, with the second of each line that was read */
	struct error trouble;
};

static int enter(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));

	strcpy(x->dir, "/tmp/culprit-follow-XXXXXX");
	if (!mkdtemp(x->dir) || chdir(x->dir) || mkdir("d", 0700))
		return -1;
	x->args[0] = strdup("d");
	x->o = (struct follow_options){ .args = x->args,
					.nr_args = 1,
					.output = "d/run.culprit",
					.rest_ns = REST_NS,
					.open_max = 100,
					.kept_bytes = 10000 };
	*state = x;
	return 0;
}

static int leave(void **state)
{
	struct fixture *x = *state;
	char command[100];
	int r;

	if (x->follow)
		follow_free(x->follow);
	snprintf(command, sizeof(command), "rm -rf '%s'", x->dir);
	r = chdir("/") || system(command);
	buf_done(&x->got);
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

/* Lines of the seconds from .. until - 1, behind what is there. */
static void write_lines(const char *path, int from, int until)
{
	FILE *f = open_file(path, "a");

	for (int i = from; i < until; i++)
		fprintf(f, "2024-05-01 10:00:%02d,000 INFO [main] shop.Cart: line %d\n", i, i);
	fclose(f);
}

static void write_text(const char *path, const char *text)
{
	FILE *f = open_file(path, "a");

	fputs(text, f);
	fclose(f);
}

static void copy(const char *from, const char *to, bool is_packed)
{
	FILE *f = open_file(from, "r");
	gzFile g = gzopen(to, is_packed ? "w" : "wT");
	int c;

	while ((c = getc(f)) != EOF)
		gzputc(g, c);
	fclose(f);
	gzclose(g);
}

static int take_file(void *to, const struct file_seen *f, uint32_t *number, struct error *err)
{
	(void)to;
	(void)err;
	(void)f;
	*number = 1;
	return 0;
}

static int take_events(void *to, const struct event *ev, size_t nr, struct error *err)
{
	struct fixture *x = to;

	(void)err;
	for (size_t i = 0; i < nr; i++)
		if (ev[i].ns == NS_NONE)
			buf_fmt(&x->got, " -");
		else
			buf_fmt(&x->got, " %d", (int)(ev[i].ns / NS_S % 60));
	return 0;
}

static bool look(struct fixture *x)
{
	if (!x->follow)
		x->follow = follow_new(&x->o);
	x->now += NS_S;
	return follow_look(x->follow, x->now, &x->trouble);
}

static int read_all(struct fixture *x, bool is_last, bool *has_more)
{
	const struct source_options o = { .zone = "UTC", .cores = 1 };
	struct losses losses = { 0 };
	struct sink sink = { .to = x, take_file, take_events, NULL, NULL, &losses };
	struct error err = { 0 };
	size_t nr = follow_take(x->follow, x->now, is_last, has_more);
	int r = 0;

	buf_clear(&x->got);
	for (size_t i = 0; i < nr && r >= 0; i++) {
		buf_fmt(&x->got, "%s%s:", i ? "; " : "", follow_name(x->follow, i));
		r = follow_read(x->follow, i, &o, &sink, &err);
	}
	return r;
}

static void reads(struct fixture *x, const char *want)
{
	bool has_more;

	look(x);
	assert_true(read_all(x, false, &has_more) >= 0);
	assert_str_equal(buf_str(&x->got), want);
}

static struct follow_state state_of(const struct fixture *x)
{
	struct follow_state s;

	follow_state(x->follow, &s);
	return s;
}

static void growth_is_noticed_and_silence_too(void **state)
{
	struct fixture *x = *state;

	write_lines("d/app.log", 0, 2);
	assert_true(look(x));
	assert_false(look(x));
	write_lines("d/app.log", 2, 3);
	assert_true(look(x));
	assert_false(look(x));
	reads(x, "app.log: 0 1 2");
}

static void a_line_that_is_not_whole_waits_until_it_is_or_rests_or_the_end(void **state)
{
	struct fixture *x = *state;
	bool has_more;

	write_lines("d/app.log", 0, 2);
	write_text("d/app.log", "2024-05-01 10:00:02,000 INFO [main] sh");
	look(x);
	read_all(x, false, &has_more);
	assert_str_equal(buf_str(&x->got), "app.log: 0 1");
	assert_true(has_more);
	read_all(x, true, &has_more);
	assert_str_equal(buf_str(&x->got), "app.log: 0 1 2");
	assert_false(has_more);
	x->now += REST_NS;
	reads(x, "app.log: 0 1 2");
	write_text("d/app.log", "op.Cart: line 2\n");
	write_text("d/new.log", "2024-05-01 10:00:02,000");
	reads(x, "app.log: 0 1 2");
	assert_true(follow_take(x->follow, x->now, true, &has_more) == 2);
}

static void what_has_rested_before_is_whole_at_once(void **state)
{
	struct fixture *x = *state;
	struct timespec times[2] = { { .tv_sec = 1700000000 }, { .tv_sec = 1700000000 } };
	bool has_more;

	write_lines("d/app.log", 0, 1);
	write_text("d/app.log", "2024-05-01 10:00:02,000 INFO [main] sh");
	copy("/dev/null", "d/none.log.gz", true);
	assert_int_equal(utimensat(AT_FDCWD, "d/app.log", times, 0), 0);
	look(x);
	read_all(x, false, &has_more);
	assert_str_equal(buf_str(&x->got), "app.log: 0 2");
	assert_true(has_more);
	x->now += REST_NS;
	look(x);
	read_all(x, false, &has_more);
	assert_str_equal(buf_str(&x->got), "app.log: 0 2; none.log.gz:");
	assert_false(has_more);
}

static void renaming_moves_lines_and_doubles_none(void **state)
{
	struct fixture *x = *state;

	write_lines("d/app.log", 0, 2);
	reads(x, "app.log: 0 1");
	rename("d/app.log", "d/app.log.1");
	/* who has the file open writes on for a while */
	write_lines("d/app.log.1", 2, 3);
	write_lines("d/app.log", 3, 4);
	reads(x, "app.log.1: 0 1 2; app.log: 3");
	rename("d/app.log.1", "d/app.log.2");
	rename("d/app.log", "d/app.log.1");
	reads(x, "app.log.2: 0 1 2; app.log.1: 3");
	assert_int_equal(state_of(x).nr_lost, 0);
}

static void a_copy_counts_once_before_and_after_the_original_is_cut(void **state)
{
	struct fixture *x = *state;

	write_lines("d/app.log", 0, 3);
	reads(x, "app.log: 0 1 2");
	/* in the middle of copying */
	write_lines("d/app.log.1", 0, 2);
	reads(x, "app.log: 0 1 2");
	write_lines("d/app.log.1", 2, 3);
	reads(x, "app.log: 0 1 2");
	assert_int_equal(state_of(x).nr_copies, 1);
	assert_int_equal(truncate("d/app.log", 0), 0);
	reads(x, "app.log.1: 0 1 2");
	/* longer than it was at once: only its beginning tells */
	write_lines("d/app.log", 3, 8);
	reads(x, "app.log.1: 0 1 2; app.log: 3 4 5 6 7");
	look(x);
	assert_int_equal(state_of(x).nr_lost, 0);
}

static void a_writer_that_goes_on_where_it_was_leaves_a_hole(void **state)
{
	struct fixture *x = *state;
	static const char line[] = "2024-05-01 10:00:07,000 INFO [main] shop.Cart: line\n";
	int fd;

	write_lines("d/app.log", 0, 3);
	look(x);
	copy("d/app.log", "d/app.log.1", false);
	assert_int_equal(truncate("d/app.log", 0), 0);
	fd = open("d/app.log", O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, line, sizeof(line) - 1, 9000), sizeof(line) - 1);
	reads(x, "app.log.1: 0 1 2; app.log: 7");
	/* and once more */
	rename("d/app.log.1", "d/app.log.2");
	copy("d/app.log", "d/app.log.1", false);
	reads(x, "app.log.2: 0 1 2; app.log: 7");
	assert_int_equal(truncate("d/app.log", 0), 0);
	assert_int_equal(pwrite(fd, "2024-05-01 10:00:08,000 x", 25, 20000), 25);
	close(fd);
	x->now += REST_NS;
	look(x);
	x->now += REST_NS;
	reads(x, "app.log.2: 0 1 2; app.log.1: 7; app.log: 8");
	assert_int_equal(state_of(x).nr_lost, 0);
}

static void packing_takes_the_place_of_the_plain_file_when_that_is_gone(void **state)
{
	struct fixture *x = *state;

	write_lines("d/app.log.1", 0, 3);
	write_lines("d/app.log", 3, 4);
	reads(x, "app.log.1: 0 1 2; app.log: 3");
	write_text("d/app.log.1.gz", "\x1f\x8b\x08");
	reads(x, "app.log.1: 0 1 2; app.log: 3");
	unlink("d/app.log.1.gz");
	copy("d/app.log.1", "d/app.log.1.gz", true);
	reads(x, "app.log.1: 0 1 2; app.log: 3");
	unlink("d/app.log.1");
	reads(x, "app.log.1.gz: 0 1 2; app.log: 3");
	assert_int_equal(state_of(x).nr_kept, 0);
	assert_int_equal(state_of(x).nr_lost, 0);
}

static void what_is_deleted_is_read_on_up_to_a_limit(void **state)
{
	struct fixture *x = *state;

	write_lines("d/app.log.1", 0, 2);
	write_lines("d/app.log", 2, 3);
	reads(x, "app.log.1: 0 1; app.log: 2");
	unlink("d/app.log.1");
	rename("d/app.log", "d/app.log.1");
	reads(x, "app.log.1: 0 1; app.log.1: 2");
	assert_int_equal(state_of(x).nr_kept, 1);
	write_lines("d/big.log", 0, 60);
	for (int i = 0; i < 4; i++)
		write_lines("d/big.log", 0, 60);
	look(x);
	unlink("d/big.log");
	assert_true(look(x));
	/* the two are too large together: the one that went first is given up, then the other */
	assert_int_equal(state_of(x).nr_kept, 0);
	assert_int_equal(state_of(x).nr_lost, 2);
	reads(x, "app.log.1: 2");
}

static void what_is_deleted_keeps_its_place_however_the_others_are_called(void **state)
{
	struct fixture *x = *state;

	write_lines("d/app.log.2", 0, 1);
	write_lines("d/app.log.1", 1, 2);
	write_lines("d/app.log", 2, 3);
	reads(x, "app.log.2: 0; app.log.1: 1; app.log: 2");
	unlink("d/app.log.1");
	rename("d/app.log.2", "d/app.log.7");
	rename("d/app.log", "d/app.log.5");
	write_lines("d/app.log", 3, 4);
	reads(x, "app.log.7: 0; app.log.1: 1; app.log.5: 2; app.log: 3");
	/* a copy is as old as the original, even when that was cut before */
	copy("d/app.log.5", "d/app.log.4.gz", true);
	look(x);
	unlink("d/app.log.5");
	reads(x, "app.log.7: 0; app.log.1: 1; app.log.4.gz: 2; app.log: 3");
	unlink("d/app.log.4.gz");
	unlink("d/app.log");
	unlink("d/app.log.7");
	reads(x, "app.log.7: 0; app.log.1: 1; app.log.4.gz: 2; app.log: 3");
	write_lines("d/app.log", 4, 5);
	write_lines("d/a.log", 9, 10);
	reads(x, "a.log: 9; app.log.7: 0; app.log.1: 1; app.log.4.gz: 2; app.log: 3; app.log: 4");
}

static void what_cannot_be_kept_open_is_missed_when_it_goes(void **state)
{
	struct fixture *x = *state;

	x->o.open_max = 1;
	write_lines("d/a.log", 0, 1);
	write_lines("d/b.log", 1, 2);
	write_lines("d/c.log", 2, 3);
	reads(x, "a.log: 0; b.log: 1; c.log: 2");
	unlink("d/b.log");
	rename("d/c.log", "d/c.log.1");
	look(x);
	look(x);
	assert_int_equal(state_of(x).nr_lost, 1);
	reads(x, "a.log: 0; c.log.1: 2");
}

static void a_file_that_was_cut_and_copied_nowhere_is_missed(void **state)
{
	struct fixture *x = *state;

	write_lines("d/app.log", 0, 3);
	look(x);
	assert_int_equal(truncate("d/app.log", 0), 0);
	write_lines("d/app.log", 7, 8);
	look(x);
	look(x);
	assert_int_equal(state_of(x).nr_lost, 1);
	reads(x, "app.log: 7");
}

static void equal_beginnings_alone_make_no_copy(void **state)
{
	struct fixture *x = *state;

	for (int i = 0; i < 2; i++)
		write_text(i ? "d/app.log.1" : "d/app.log",
			   "# a banner of some length that each of these files begins with\n"
			   "# a banner of some length that each of these files begins with\n"
			   "# a banner of some length that each of these files begins with\n"
			   "# a banner of some length that each of these files begins with\n"
			   "# a banner of some length that each of these files begins with\n"
			   "# a banner of some length that each of these files begins with\n"
			   "# a banner of some length that each of these files begins with\n"
			   "# a banner of some length that each of these files begins with\n"
			   "# a banner of some length that each of these files begins with\n");
	write_lines("d/app.log.1", 0, 2);
	write_lines("d/app.log", 2, 4);
	reads(x, "app.log.1: - 0 1; app.log: - 2 3");
	/* nor do other logs */
	write_lines("d/one.log", 5, 6);
	write_lines("d/two.log", 5, 6);
	reads(x, "app.log.1: - 0 1; app.log: - 2 3; one.log: 5; two.log: 5");
}

static void the_run_that_is_written_is_not_read(void **state)
{
	struct fixture *x = *state;

	write_lines("d/app.log", 0, 1);
	write_lines("d/run.culprit", 1, 2);
	write_lines("d/run.culprit.partial-77", 1, 2);
	write_lines("d/run.culprit.log", 2, 3);
	reads(x, "app.log: 0; run.culprit.log: 2");
}

static void a_directory_that_is_not_there_is_waited_for(void **state)
{
	struct fixture *x = *state;

	rmdir("d");
	assert_false(look(x));
	assert_int_equal(x->trouble.code, ENOENT);
	mkdir("d", 0700);
	assert_false(look(x));
	write_lines("d/app.log", 0, 1);
	assert_true(look(x));
	assert_int_equal(x->trouble.code, 0);
	unlink("d/app.log");
	mkdir("d/app.log", 0700);
	write_lines("d/app.log/x", 4, 5);
	reads(x, "app.log: 0; app.log/x: 4");
}

static void a_file_named_twice_is_followed_once(void **state)
{
	struct fixture *x = *state;
	char file[] = "d/app.log";

	x->args[1] = file;
	x->o.nr_args = 2;
	write_lines("d/app.log", 0, 1);
	assert_int_equal(link("d/app.log", "d/current"), 0);
	reads(x, "d/app.log: 0");
	write_lines("d/app.log", 1, 2);
	reads(x, "d/app.log: 0 1");
}

static void a_file_replaced_while_it_is_read_is_told(void **state)
{
	struct fixture *x = *state;
	bool has_more;

	x->o.open_max = 0;
	write_lines("d/app.log", 0, 3);
	look(x);
	follow_take(x->follow, x->now, false, &has_more);
	unlink("d/app.log");
	assert_int_equal(read_all(x, false, &has_more), -ESTALE);
	write_lines("d/other", 5, 6);
	rename("d/other", "d/app.log");
	assert_int_equal(read_all(x, false, &has_more), -ESTALE);
	reads(x, "app.log: 5");
	write_lines("d/app.log", 6, 7);
	look(x);
	assert_int_equal(truncate("d/app.log", 10), 0);
	assert_int_equal(read_all(x, false, &has_more), -ESTALE);
}

static void note_directory(void *ctx, const char *path)
{
	buf_fmt(ctx, "%s ", path);
}

static void deeper_directories_are_named_for_watching(void **state)
{
	struct fixture *x = *state;

	mkdir("d/x", 0700);
	mkdir("d/x/y", 0700);
	write_lines("d/x/y/app.log", 0, 1);
	look(x);
	follow_each_directory(x->follow, note_directory, &x->got);
	assert_str_equal(buf_str(&x->got), "d . d/x/y d/x d ");
}

static void waiting_ends_when_a_name_changes_or_the_time_is_over(void **state)
{
	struct follow_watch *w = follow_watch_new();
	int64_t began = time_tick();

	(void)state;
	follow_watch_add(w, "d");
	follow_watch_add(w, "nowhere");
	assert_false(follow_watch_wait(w, 20 * NS_MS));
	assert_true(time_tick() - began >= 20 * NS_MS);
	write_text("d/app.log", "x");
	if (!follow_watch_wait(w, 2 * NS_S))
		skip(); /* this file system does not tell */
	assert_false(follow_watch_wait(w, 0));
	write_text("d/app.log", "y");
	assert_false(follow_watch_wait(w, 20 * NS_MS));
	rename("d/app.log", "d/app.log.1");
	assert_true(follow_watch_wait(w, 2 * NS_S));
	follow_watch_free(w);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(growth_is_noticed_and_silence_too),
		TEST(a_line_that_is_not_whole_waits_until_it_is_or_rests_or_the_end),
		TEST(what_has_rested_before_is_whole_at_once),
		TEST(renaming_moves_lines_and_doubles_none),
		TEST(a_copy_counts_once_before_and_after_the_original_is_cut),
		TEST(a_writer_that_goes_on_where_it_was_leaves_a_hole),
		TEST(packing_takes_the_place_of_the_plain_file_when_that_is_gone),
		TEST(what_is_deleted_is_read_on_up_to_a_limit),
		TEST(what_is_deleted_keeps_its_place_however_the_others_are_called),
		TEST(what_cannot_be_kept_open_is_missed_when_it_goes),
		TEST(a_file_that_was_cut_and_copied_nowhere_is_missed),
		TEST(equal_beginnings_alone_make_no_copy),
		TEST(the_run_that_is_written_is_not_read),
		TEST(a_directory_that_is_not_there_is_waited_for),
		TEST(a_file_named_twice_is_followed_once),
		TEST(a_file_replaced_while_it_is_read_is_told),
		TEST(deeper_directories_are_named_for_watching),
		TEST(waiting_ends_when_a_name_changes_or_the_time_is_over),
	};

	return RUN(tests);
}
