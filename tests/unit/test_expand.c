#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "source/source.h"

/* A directory of its own for each test, as the working directory. */
static int enter(void **state)
{
	char dir[] = "/tmp/culprit-expand-XXXXXX";

	if (!mkdtemp(dir) || chdir(dir))
		return -1;
	*state = strdup(dir);
	return 0;
}

static int leave(void **state)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -rf '%s'", (char *)*state);
	free(*state);
	return chdir("/") || system(command);
}

static void make(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void expands_to(char *const *args, size_t nr, const char *want, uint64_t bytes)
{
	struct source_list list = { 0 };
	struct error err = { 0 };
	struct buf got = { 0 };

	if (source_expand(args, nr, &list, &err))
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < list.nr; i++)
		buf_fmt(&got, "%s ", list.paths[i]);
	assert_str_equal(buf_str(&got), want);
	assert_int_equal(list.bytes, bytes);
	source_list_done(&list);
	buf_done(&got);
}

static void directories_are_walked_in_order_without_what_is_hidden(void **state)
{
	char d[] = "d", *args[] = { d };

	(void)state;
	mkdir("d", 0700);
	mkdir("d/b", 0700);
	mkdir("d/.git", 0700);
	make("d/z", "12345");
	make("d/b/y", "12");
	make("d/a", "");
	make("d/.hidden", "x");
	make("d/.git/x", "x");
	mkfifo("d/pipe", 0600);
	expands_to(args, 1, "d/a d/b/y d/z ", 7);
}

static void rotated_logs_come_the_oldest_first(void **state)
{
	static const char *const names[] = { "d/app.log", "d/app.log.1", "d/app.log.10.gz",
					     "d/app.log.2.gz", "d/b.log" };
	char d[] = "d", *args[] = { d };

	(void)state;
	mkdir("d", 0700);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		make(names[i], "1");
	expands_to(args, 1, "d/app.log.10.gz d/app.log.2.gz d/app.log.1 d/app.log d/b.log ", 5);
}

static void links_that_lead_back_end_and_a_file_is_read_once(void **state)
{
	char d[] = "d/", f[] = "d/f", g[] = "d/g", *args[] = { d, f, g };

	(void)state;
	mkdir("d", 0700);
	make("d/f", "1");
	assert_int_equal(symlink("..", "d/up"), 0);
	assert_int_equal(symlink(".", "d/self"), 0);
	assert_int_equal(symlink("f", "d/g"), 0);
	assert_int_equal(symlink("nowhere", "d/h"), 0);
	expands_to(args, 3, "d/f ", 1);
}

static void wildcards_and_standard_input_are_understood(void **state)
{
	char logs[] = "*.log", in[] = "-", x[] = "x[1].txt", *args[] = { logs, in, x };

	(void)state;
	make("b.log", "1");
	make("a.log", "1");
	make("x[1].txt", "1"); /* a name that only looks like a pattern */
	mkdir("empty.log", 0700);
	expands_to(args, 3, "a.log b.log - x[1].txt ", 3);
}

static void fails(const char *what, int code)
{
	char *arg = strdup(what);
	struct source_list list = { 0 };
	struct error err = { 0 };

	assert_int_equal(source_expand(&arg, 1, &list, &err), -code);
	assert_non_null(strstr(err.msg, arg));
	assert_int_equal(list.nr, 0);
	free(arg);
}

static void an_argument_that_gives_nothing_is_an_error(void **state)
{
	(void)state;
	mkdir("empty", 0700);
	fails("absent", ENOENT);
	fails("*.none", ENOENT);
	fails("empty", ENOENT);
	fails("", ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			directories_are_walked_in_order_without_what_is_hidden, enter, leave),
		cmocka_unit_test_setup_teardown(rotated_logs_come_the_oldest_first, enter, leave),
		cmocka_unit_test_setup_teardown(links_that_lead_back_end_and_a_file_is_read_once,
						enter, leave),
		cmocka_unit_test_setup_teardown(wildcards_and_standard_input_are_understood, enter,
						leave),
		cmocka_unit_test_setup_teardown(an_argument_that_gives_nothing_is_an_error, enter,
						leave),
	};

	return RUN(tests);
}
