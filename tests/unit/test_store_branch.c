#include "unit.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "home.h"
#include "store/store.h"
#include "store_same.h"

static int add_request(struct store *s, const char *type, int64_t start)
{
	struct request r = { .type = str_of(type), .start = start, .end = start + 1 };
	struct error err = { 0 };

	return store_add_request(s, &r, NULL, &err);
}

static int see_type(void *ctx, const struct request *r)
{
	strncat(ctx, r->type.p, r->type.n);
	return 0;
}

/* The types of a run, in the order of its requests. */
static void holds(const char *path, const char *want)
{
	struct error err = { 0 };
	struct store *s = NULL;
	char got[100] = "";

	OK(store_open(&s, path, &err));
	OK(store_each_request(s, NULL, see_type, got, &err));
	store_close(s);
	assert_string_equal(got, want);
}

/* What a child makes of the store: a run with one request more, or an end in the middle. */
static int branch(struct store *s, const char *type, bool is_killed)
{
	struct error err = { 0 };
	int status = 0;
	pid_t child;

	OK(store_pause(s, &err));
	child = fork();
	if (!child) {
		bool ok = !store_branch(s, &err) && !add_request(s, type, 50);

		if (is_killed)
			raise(SIGKILL);
		ok = ok && !store_finish(s, &err);
		store_close(s);
		_exit(ok ? 0 : 1);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void a_branch_is_a_run_of_its_own(void **state)
{
	struct home *h = *state;
	struct error err = { 0 };
	struct store *s = NULL;

	OK(store_create(&s, h->run, &err));
	OK(add_request(s, "a", 10));
	assert_int_equal(branch(s, "x", false), 0);
	holds(h->run, "ax");
	/* what the child added is not the parent's, and what it had stays */
	OK(add_request(s, "b", 20));
	assert_int_equal(branch(s, "y", false), 0);
	holds(h->run, "aby");
	OK(add_request(s, "c", 30));
	OK(store_finish(s, &err));
	store_close(s);
	holds(h->run, "abc");
	assert_int_equal(home_nr_files(h), 1);
}

static int count_event(void *ctx, uint64_t number, const struct event *ev)
{
	assert_int_equal(ev->ns, number + 1);
	++*(uint64_t *)ctx;
	return 0;
}

/* More than one block of them, so that some are in the file and some are not. */
static void events_that_came_before_are_in_the_branch(void **state)
{
	struct home *h = *state;
	struct event ev = { .kind = EVENT_LOG, .duration = -1 };
	struct error err = { 0 };
	struct store *s = NULL;
	struct sink sink;
	uint64_t nr = 0;

	OK(store_create(&s, h->run, &err));
	sink = store_sink(s);
	for (ev.ns = 1; ev.ns <= 10000; ev.ns++)
		OK(sink.events(sink.to, &ev, 1, &err));
	assert_int_equal(branch(s, "x", false), 0);
	store_close(s);
	OK(store_open(&s, h->run, &err));
	OK(store_each_event(s, 0, UINT64_MAX, count_event, &nr, &err));
	store_close(s);
	assert_int_equal(nr, 10000);
}

static void the_last_branch_stays_when_nothing_is_finished(void **state)
{
	struct home *h = *state;
	struct error err = { 0 };
	struct store *s = NULL;

	OK(store_create(&s, h->run, &err));
	OK(add_request(s, "a", 10));
	assert_int_equal(branch(s, "x", false), 0);
	store_close(s);
	holds(h->run, "ax");
	assert_int_equal(home_nr_files(h), 1);
}

static void a_branch_that_dies_harms_nobody(void **state)
{
	struct home *h = *state;
	struct error err = { 0 };
	struct store *s = NULL;

	OK(store_create(&s, h->run, &err));
	OK(add_request(s, "a", 10));
	assert_int_equal(branch(s, "x", false), 0);
	assert_true(branch(s, "y", true));
	holds(h->run, "ax");
	OK(add_request(s, "b", 20));
	/* which also takes away what the dead one left */
	assert_int_equal(branch(s, "z", false), 0);
	holds(h->run, "abz");
	store_close(s);
	assert_int_equal(home_nr_files(h), 1);
}

static void what_is_finished_has_no_branches(void **state)
{
	struct home *h = *state;
	struct error err = { 0 };
	struct store *s = NULL;

	OK(store_create(&s, h->run, &err));
	OK(store_finish(s, &err));
	assert_true(store_pause(s, &err) < 0);
	assert_true(store_branch(s, &err) < 0);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		HOME_TEST(a_branch_is_a_run_of_its_own),
		HOME_TEST(events_that_came_before_are_in_the_branch),
		HOME_TEST(the_last_branch_stays_when_nothing_is_finished),
		HOME_TEST(a_branch_that_dies_harms_nobody),
		HOME_TEST(what_is_finished_has_no_branches),
	};

	return RUN(tests);
}
