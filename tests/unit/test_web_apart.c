/* What takes long is asked in a process apart, and kept on disk. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "web/apart.h"
#include "web/kept.h"

#define PLAYS "CULPRIT_TEST_PLAYS" /* the file that is made when it does */

/* This program is asked, as what it is a test of would be. */
static int play(const char *part)
{
	const char *plays = getenv(PLAYS);
	int fd = plays ? open(plays, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;

	if (fd >= 0)
		close(fd);
	if (!strcmp(part, "much"))
		for (int i = 0; i < 100000; i++)
			printf("{\"line\":%d}\n", i);
	if (!strcmp(part, "fail"))
		fprintf(stderr, "culprit: the run is damaged\n");
	if (!strcmp(part, "hang"))
		sleep(600);
	if (!strcmp(part, "slowly")) {
		usleep(700000);
		printf("at last\n");
	}
	return !strcmp(part, "fail") ? 2 : !strcmp(part, "none");
}

static int asked_by(struct apart *a, const struct apart_asker *who, const char *part,
		    struct buf *answer, struct error *err)
{
	char *args[] = { (char *)"culprit", (char *)"play", (char *)part, NULL };
	int r;

	apart_lock(a, who);
	r = apart_ask(a, args, who, answer, err);
	apart_unlock(a);
	return r;
}

static int asked(struct apart *a, const char *part, struct buf *answer, struct error *err)
{
	struct apart_asker who = { .key = str_of(part) };

	return asked_by(a, &who, part, answer, err);
}

static void its_output_is_the_answer(void **state)
{
	struct apart *a = apart_new();
	struct buf answer = { 0 };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(asked(a, "much", &answer, &err), 0);
	assert_true(str_starts(buf_str(&answer), STR("{\"line\":0}\n{\"line\":1}\n")));
	assert_true(str_ends(buf_str(&answer), STR("{\"line\":99999}\n")));
	assert_int_equal(asked(a, "none", &answer, &err), 1);
	buf_done(&answer);
	apart_free(a);
}

static void its_complaint_is_told(void **state)
{
	struct apart *a = apart_new();
	struct buf answer = { 0 };
	struct error err = { 0 };

	(void)state;
	assert_true(asked(a, "fail", &answer, &err) < 0);
	assert_non_null(strstr(err.msg, "the run is damaged"));
	assert_int_equal(answer.n, 0);
	buf_done(&answer);
	apart_free(a);
}

static void nothing_is_asked_after_the_end(void **state)
{
	struct apart *a = apart_new();
	struct buf answer = { 0 };
	struct error err = { 0 };

	(void)state;
	apart_stop(a);
	assert_true(asked(a, "much", &answer, &err) < 0);
	buf_done(&answer);
	apart_free(a);
}

static bool is_gone(void *to)
{
	(void)to;
	return true;
}

/* Somebody who asked and left, or asks ahead, in a thread of his own. */
struct other {
	struct apart *apart;
	struct apart_asker who;
	const char *part;
	struct buf answer;
	int got;
};

static void *ask(void *to)
{
	struct other *o = to;
	struct error err = { 0 };

	o->got = asked_by(o->apart, &o->who, o->part, &o->answer, &err);
	return NULL;
}

/* What he gets when somebody else waits for `part` meanwhile. */
static int meet(struct other *o, const char *part)
{
	struct apart_asker who = { .key = str_of(part) };
	char plays[64];
	pthread_t thread;

	o->apart = apart_new();
	o->who.key = str_of(o->part);
	snprintf(plays, sizeof(plays), "/tmp/culprit-plays-%d", (int)getpid());
	setenv(PLAYS, plays, 1);
	assert_int_equal(pthread_create(&thread, NULL, ask, o), 0);
	for (int i = 0; i < 180000 && access(plays, F_OK); i++)
		usleep(1000);
	assert_int_equal(unlink(plays), 0);
	unsetenv(PLAYS);
	apart_lock(o->apart, &who);
	apart_unlock(o->apart);
	pthread_join(thread, NULL);
	apart_free(o->apart);
	return o->got;
}

static void who_left_makes_room_for_who_waits(void **state)
{
	struct other left = { .who.is_over = is_gone, .part = "hang" };

	(void)state;
	assert_int_equal(meet(&left, "much"), -ECANCELED);
	assert_int_equal(left.answer.n, 0);
	buf_done(&left.answer);
}

static void who_asks_ahead_makes_room_for_who_waits(void **state)
{
	struct other ahead = { .who.is_ahead = true, .part = "hang" };

	(void)state;
	assert_int_equal(meet(&ahead, "much"), -ECANCELED);
	buf_done(&ahead.answer);
}

static void what_another_waits_for_is_answered_though_its_asker_left(void **state)
{
	struct other left = { .who.is_over = is_gone, .part = "slowly" };

	(void)state;
	assert_int_equal(meet(&left, "slowly"), 0);
	assert_str_equal(buf_str(&left.answer), "at last\n");
	buf_done(&left.answer);
}

static void what_is_kept_is_found_again(void **state)
{
	char dir[] = "/tmp/culprit-kept-XXXXXX", command[80];
	struct buf answer = { 0 };
	char key[16];

	(void)state;
	assert_non_null(mkdtemp(dir));
	setenv("XDG_CACHE_HOME", dir, 1);
	assert_false(kept_find(STR("a"), &answer));
	kept_put(STR("a"), STR("an answer\n"));
	assert_true(kept_find(STR("a"), &answer));
	assert_str_equal(buf_str(&answer), "an answer\n");
	buf_clear(&answer);
	assert_false(kept_find(STR("b"), &answer));
	/* many push the oldest out */
	for (int i = 0; i < 300; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		kept_put(str_of(key), STR("x"));
	}
	assert_true(kept_find(STR("k299"), &answer));
	snprintf(command, sizeof(command), "test $(ls %s/culprit/answers | wc -l) -le 128", dir);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
	buf_done(&answer);
}

static void a_file_that_changed_has_another_key(void **state)
{
	char path[] = "/tmp/culprit-file-XXXXXX";
	int fd = mkstemp(path);
	struct buf before = { 0 }, after = { 0 };

	(void)state;
	assert_true(fd >= 0);
	assert_true(kept_file(path, &before));
	assert_int_equal(write(fd, "x", 1), 1);
	assert_true(kept_file(path, &after));
	assert_false(str_eq(buf_str(&before), buf_str(&after)));
	unlink(path);
	assert_false(kept_file(path, &after));
	close(fd);
	buf_done(&before);
	buf_done(&after);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_output_is_the_answer),
		cmocka_unit_test(its_complaint_is_told),
		cmocka_unit_test(nothing_is_asked_after_the_end),
		cmocka_unit_test(who_left_makes_room_for_who_waits),
		cmocka_unit_test(who_asks_ahead_makes_room_for_who_waits),
		cmocka_unit_test(what_another_waits_for_is_answered_though_its_asker_left),
		cmocka_unit_test(what_is_kept_is_found_again),
		cmocka_unit_test(a_file_that_changed_has_another_key),
	};

	return argc == 3 ? play(argv[2]) : RUN(tests);
}
