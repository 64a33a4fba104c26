#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "home.h"
#include "store/store.h"
#include "store_same.h"

static void add_request(struct store *s, const char *type, const char *key, int64_t start,
			int64_t end)
{
	struct request r = { .type = str_of(type), .key = str_of(key), .start = start, .end = end };
	struct error err = { 0 };

	OK(store_add_request(s, &r, NULL, &err));
}

static int count(void *ctx, const struct request *r, const struct request_body *body)
{
	(void)r;
	(void)body;
	++*(int *)ctx;
	return 0;
}

static int nr_requests(struct store *s)
{
	struct error err = { 0 };
	int nr = 0;

	OK(store_each_body(s, NULL, count, &nr, &err));
	return nr;
}

/* --- whole or absent ------------------------------------------------------------------------- */

static void an_unfinished_run_leaves_nothing(void **state)
{
	struct home *h = *state;
	struct error err = { 0 };
	struct store *s = NULL;

	OK(store_create(&s, h->run, &err));
	add_request(s, "T", "k", 1, 2);
	assert_int_equal(access(h->run, F_OK), -1);
	assert_int_equal(home_nr_files(h), 1);
	store_close(s);
	assert_int_equal(home_nr_files(h), 0);
}

static void two_writers_do_not_harm_each_other(void **state)
{
	struct home *h = *state;
	struct store *a = NULL, *b = NULL, *s = NULL;
	struct store_totals t;
	struct error err = { 0 };

	OK(store_create(&a, h->run, &err));
	OK(store_create(&b, h->run, &err));
	add_request(a, "T", "a", 1, 2);
	add_request(b, "T", "b", 1, 2);
	add_request(b, "T", "k", 1, 2);
	OK(store_finish(b, &err));
	OK(store_open(&s, h->run, &err));
	OK(store_totals(s, &t, &err));
	assert_int_equal(t.nr_requests, 2);
	OK(store_finish(a, &err));
	assert_int_equal(nr_requests(a), 1);
	store_close(a);
	store_close(b);
	store_close(s);
	OK(store_open(&s, h->run, &err));
	OK(store_totals(s, &t, &err));
	assert_int_equal(t.nr_requests, 1);
	store_close(s);
	assert_int_equal(home_nr_files(h), 1);
}

static void what_a_dead_writer_left_is_removed_by_the_next(void **state)
{
	struct home *h = *state;
	struct error err = { 0 };
	struct store *s = NULL;
	char left[128], own[128];

	snprintf(own, sizeof(own), "%s.partial-notes", h->run);
	home_write(own, STR("of the user"));
	snprintf(left, sizeof(left), "%s.partial-4711", h->run);
	home_write(left, STR("half"));
	OK(store_create(&s, h->run, &err));
	assert_int_equal(access(left, F_OK), -1);
	assert_int_equal(unlink(own), 0);
	OK(store_finish(s, &err));
	store_close(s);
	assert_int_equal(home_nr_files(h), 1);
}

static void a_temporary_run_can_be_asked_and_leaves_nothing(void **state)
{
	struct error err = { 0 };
	struct store *s = NULL;

	(void)state;
	OK(store_create(&s, NULL, &err));
	add_request(s, "T", "k", 1, 2);
	OK(store_finish(s, &err));
	assert_int_equal(nr_requests(s), 1);
	store_close(s);
}

static void a_foreign_file_is_never_overwritten(void **state)
{
	struct home *h = *state;
	struct error err = { 0 };
	struct store *s = NULL;

	home_write(h->run, STR("my precious log\n"));
	assert_int_equal(store_create(&s, h->run, &err), -EEXIST);
	assert_non_null(strstr(err.msg, "is not a run file"));
	assert_int_equal(store_create(&s, h->dir, &err), -EISDIR);
	assert_int_equal(store_create(&s, "/dev/null", &err), -EINVAL);
	assert_int_equal(store_create(&s, "/no/such/place/x", &err), -ENOENT);
	assert_null(s);
}

/* --- what is no run -------------------------------------------------------------------------- */

static void assert_explained(const char *path, int code, const char *part)
{
	struct error err = { 0 };
	struct store *s = NULL;

	assert_int_equal(store_open(&s, path, &err), code);
	assert_null(s);
	if (!strstr(err.msg, part))
		fail_msg("'%s' does not say '%s'", err.msg, part);
	assert_null(strchr(err.msg, '\n'));
}

static void poke(const char *path, long at, unsigned char byte)
{
	FILE *f = fopen(path, "r+b");

	assert_non_null(f);
	fseek(f, at, SEEK_SET);
	fputc(byte, f);
	fclose(f);
}

static void what_is_no_run_is_explained_in_one_line(void **state)
{
	struct home *h = *state;
	struct error err = { 0 };
	struct store *s = NULL;

	assert_explained(h->run, -ENOENT, "No such file");
	assert_explained(h->dir, -EISDIR, "is a directory");
	assert_explained("/dev/null", -EBADMSG, "not a regular file");
	home_write(h->run, STR(""));
	assert_explained(h->run, -EBADMSG, "an empty file");
	home_write(h->run, STR("2024-01-01 INFO x\n"));
	assert_explained(h->run, -EBADMSG, "looks like text");
	home_write(h->run, STR("\x1f\x8b\x08 zipped"));
	assert_explained(h->run, -EBADMSG, "looks like gzip");
	home_write(h->run, STR("SQLite format 3\0 and more that is not ours"));
	assert_explained(h->run, -EBADMSG, "another program");
	assert_false(store_is_run(h->run));
	unlink(h->run);
	OK(store_create(&s, h->run, &err));
	OK(store_finish(s, &err));
	store_close(s);
	assert_true(store_is_run(h->run));
	poke(h->run, 63, 200);
	assert_explained(h->run, -ENOTSUP, "newer culprit");
	poke(h->run, 63, 0);
	assert_explained(h->run, -EBADMSG, "unfinished");
	poke(h->run, 63, 1);
	assert_explained(h->run, -ENOTSUP, "older culprit");
	poke(h->run, 63, 2);
	assert_int_equal(truncate(h->run, 9000), 0);
	assert_explained(h->run, -EBADMSG, "cut short");
}

static void a_partial_file_is_called_unfinished(void **state)
{
	struct home *h = *state;
	char partial[128];
	struct error err = { 0 };
	struct store *s = NULL;

	snprintf(partial, sizeof(partial), "%s.partial-%ld", h->run, (long)getpid());
	OK(store_create(&s, h->run, &err));
	assert_explained(partial, -EBADMSG, "unfinished");
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		HOME_TEST(an_unfinished_run_leaves_nothing),
		HOME_TEST(two_writers_do_not_harm_each_other),
		HOME_TEST(what_a_dead_writer_left_is_removed_by_the_next),
		HOME_TEST(a_temporary_run_can_be_asked_and_leaves_nothing),
		HOME_TEST(a_foreign_file_is_never_overwritten),
		HOME_TEST(what_is_no_run_is_explained_in_one_line),
		HOME_TEST(a_partial_file_is_called_unfinished),
	};

	return RUN(tests);
}
