#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "model/event.h"
#include "model/sink.h"
#include "source/kin.h"
#include "source/source.h"

static int enter(void **state)
{
	char dir[] = "/tmp/culprit-kin-XXXXXX";

	if (!mkdtemp(dir) || chdir(dir) || mkdir("d", 0700))
		return -1;
	*state = strdup(dir);
	return 0;
}

static int leave(void **state)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -rf '%s'", (char *)*state);
	free(*state);
	return chdir("/") || system(command);
}

static void make(const char *path, const char *text, int times)
{
	FILE *f = fopen(path, "w");

	if (!f)
		abort();
	for (int i = 0; i < times; i++) {
		const char *at = strstr(text, "#"); /* stands for the number of the line */

		fprintf(f, "%.*s%03d%s", (int)(at - text), text, i, at + 1);
	}
	fclose(f);
}

static struct source_list list_of(void)
{
	char d[] = "d", *args[] = { d };
	struct source_list list = { 0 };
	struct error err = { 0 };

	if (source_expand(args, 1, &list, &err))
		fail_msg("%s", err.msg);
	return list;
}

static void the_largest_of_a_log_speaks_for_the_others(void **state)
{
	struct source_list list;
	struct kin k = { 0 };

	(void)state;
	make("d/a.log", "# a\n", 1);
	make("d/app.log.2", "# old\n", 3);
	make("d/app.log.1", "# large\n", 9);
	make("d/app.log", "# new\n", 2);
	list = list_of();
	assert_int_equal(list.nr, 4);
	assert_int_equal(kin_of_listed(&k, &list, 0).n, 0);
	for (size_t i = 1; i < 4; i++)
		assert_true(str_starts(kin_of_listed(&k, &list, i), STR("000 large\n001 large\n")));
	assert_int_equal(kin_of_listed(&k, &list, 0).n, 0);
	unlink("d/app.log.1");
	assert_true(str_starts(kin_of_listed(&k, &list, 3), STR("000 old\n")));
	kin_done(&k);
	source_list_done(&list);
}

struct seen {
	char layout[200];
	size_t nr;
};

static int take_file(void *to, const struct file_seen *f, uint32_t *number, struct error *err)
{
	(void)err;
	*number = 1;
	snprintf(((struct seen *)to)->layout, sizeof(((struct seen *)to)->layout), STR_FMT,
		 STR_ARG(f->layout));
	return 0;
}

static int take_events(void *to, const struct event *ev, size_t nr, struct error *err)
{
	(void)err;
	(void)ev;
	((struct seen *)to)->nr += nr;
	return 0;
}

/* The pattern that is found for d/app.log, with or without its kin. */
static void layout_of(struct source_list *list, bool is_alone, char *pattern, size_t room)
{
	const struct source_options o = { .zone = "UTC", .cores = 1 };
	struct losses losses = { 0 };
	struct seen seen = { { 0 }, 0 };
	struct sink sink = { &seen, take_file, take_events, NULL, NULL, &losses };
	struct error err = { 0 };
	size_t last = list->nr - 1;

	assert_int_equal(is_alone ? source_read(list->paths[last], &o, &sink, &err)
				  : source_read_listed(list, last, &o, &sink, &err),
			 1);
	assert_int_equal(seen.nr, 1);
	snprintf(pattern, room, "%s", seen.layout);
}

static void few_lines_are_read_as_those_of_the_larger_file_are(void **state)
{
	char alone[200], kin[200];
	struct source_list list;

	(void)state;
	make("d/app.log.1", "2024-05-01 10:00:00,# INFO ready to go\n", 50);
	make("d/app.log", "2024-05-01 10:00:01,# INFO shop.Cart [main] x\n", 1);
	list = list_of();
	layout_of(&list, true, alone, sizeof(alone));
	layout_of(&list, false, kin, sizeof(kin));
	assert_string_equal(kin, "%d{yyyy-MM-dd HH:mm:ss,SSS} %p %m");
	assert_string_not_equal(alone, kin);
	source_list_done(&list);
}

static void a_layout_that_does_not_fit_is_not_taken(void **state)
{
	char alone[200], kin[200];
	struct source_list list;

	(void)state;
	make("d/app.log.1", "[2024/05/01 10:00:00] # ready\n", 50);
	make("d/app.log", "2024-05-01 10:00:01,# INFO [main] shop.Cart: x\n", 1);
	list = list_of();
	layout_of(&list, true, alone, sizeof(alone));
	layout_of(&list, false, kin, sizeof(kin));
	assert_string_equal(kin, alone);
	source_list_done(&list);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_largest_of_a_log_speaks_for_the_others),
		TEST(few_lines_are_read_as_those_of_the_larger_file_are),
		TEST(a_layout_that_does_not_fit_is_not_taken),
	};

	return RUN(tests);
}
