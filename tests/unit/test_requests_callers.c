/* Who calls: clients that come for one request and clients that stay, and what they do late. */
#include "unit.h"

#include <stdlib.h>

#include "infer/requests/common.h"
#include "request_lines.h"

enum { NR = 160, EACH_MS = 2500 };

static struct lines l;

static bool is_one(uint64_t a, uint64_t b)
{
	return l.requests[a] && l.requests[a] == l.requests[b];
}

/* Every other client comes for one file; two of them stay. */
static bool is_guest(int i)
{
	return i % 2;
}

static const char *client(int i)
{
	static char name[64];

	snprintf(name, sizeof(name), "client_77%d_%d", is_guest(i) ? 1000 + i : i / 2 % 2, 5);
	return name;
}

static const char *handler(int i)
{
	static const char *const names[] = { "handler 1", "handler 2", "handler 3", "handler 4" };

	return names[i % 4];
}

struct file {
	uint64_t created, added, completed, again, opened;
};

/* A file is created and completed, now at once, now seconds later; what stays opens all of them. */
static void serve(struct file *files)
{
	static const int delay[] = { 350, 9000, 20, 700, 5000, 2500, 80, 400, 7000, 1200 };

	lines_begin(&l);
	lines_file(&l, "nn.log", "nn.log");
	for (int i = 0; i < NR; i++) {
		int64_t ms = i * EACH_MS, done = ms + delay[i / 2 % 10];
		struct file *f = &files[i];

		f->created =
			lines_add(&l, ms, handler(i), "create /data/dir/f%d for %s", i, client(i));
		/* most is said of a file when it is new */
		for (int k = 0; k < 4; k++)
			lines_add(&l, ms + k, handler(i), "check /data/dir/f%d %s", i,
				  k % 2 ? "quota" : "rights");
		f->completed = lines_add(&l, done, handler(i + 1), "complete /data/dir/f%d for %s",
					 i, client(i));
		if (i % 8 == 5)
			f->again = lines_add(&l, done + 1700, handler(i + 2),
					     "complete /data/dir/f%d for %s", i, client(i));
		f->opened = lines_add(&l, done + (400 << i * 3 % 8), handler(i + 3),
				      "open /data/dir/f%d for %s", i, client(i & ~1));
	}
	lines_run(&l);
}

static void what_a_client_of_one_request_calls_late_is_of_that_request(void **state)
{
	struct file files[NR];

	(void)state;
	serve(files);
	for (int i = 1; i < NR; i += 2)
		assert_true(is_one(files[i].created, files[i].completed));
	lines_end(&l);
}

static void clients_that_stay_are_as_late_as_those_of_one_request(void **state)
{
	struct file files[NR];

	(void)state;
	serve(files);
	for (int i = 0; i < NR; i += 2) {
		assert_true(is_one(files[i].created, files[i].completed));
		/* no client of one request does that */
		assert_false(is_one(files[i].created, files[i].opened));
	}
	lines_end(&l);
}

static void what_a_client_of_one_request_calls_again_is_of_that_request(void **state)
{
	struct file files[NR];

	(void)state;
	serve(files);
	for (int i = 5; i < NR; i += 8)
		assert_true(is_one(files[i].created, files[i].again));
	lines_end(&l);
}

/* One append in four comes through; the others fail. */
static void what_a_client_of_one_request_does_is_due_however_seldom_it_is_done(void **state)
{
	struct file files[NR];

	(void)state;
	lines_begin(&l);
	lines_file(&l, "nn.log", "nn.log");
	for (int i = 0; i < NR; i++) {
		files[i].created = lines_add(&l, i * EACH_MS, handler(i),
					     "append /data/dir/f%d for %s", i, client(i));
		for (int k = 0; k < 4; k++)
			lines_add(&l, i * EACH_MS + k, handler(i), "check /data/dir/f%d %s", i,
				  k % 2 ? "quota" : "rights");
	}
	lines_file(&l, "dn.log", "dn.log");
	for (int i = 1; i < NR; i += 4)
		files[i].added = lines_add(&l, i * EACH_MS + 1000, "xceiver 1",
					   "adding to /data/dir/f%d for %s", i, client(i));
	lines_run(&l);
	for (int i = 1; i < NR; i += 4)
		assert_true(is_one(files[i].created, files[i].added));
	lines_end(&l);
}

/* Six in ten are followed: too few for anybody, and enough for the same caller. */
static void what_half_of_the_work_is_followed_by_is_due_if_the_same_one_calls_at_once(void **state)
{
	uint64_t asked[NR], fetched[NR];

	(void)state;
	lines_begin(&l);
	lines_file(&l, "nn.log", "nn.log");
	for (int i = 0; i < NR; i++)
		asked[i] = lines_add(&l, i * EACH_MS, handler(i), "hello client_%d_5", 1000 + i);
	lines_file(&l, "dn.log", "dn.log");
	for (int i = 0; i < NR; i++)
		fetched[i] = i % 10 < 6 ? lines_add(&l, i * EACH_MS + (i % 2 ? 50 : 250),
						    "fetcher 1", "fetch client_%d_5", 1000 + i)
					: 0;
	lines_run(&l);
	for (int i = 0; i < NR; i++)
		if (i % 10 < 6)
			assert_int_equal(is_one(asked[i], fetched[i]), i % 2);
	lines_end(&l);
}

/* A folder is made for the first file in it; the next one is other work. */
static void files_in_one_folder_are_different_things_and_the_folder_is_one_with_each(void **state)
{
	struct steps s;
	struct common c;
	uint64_t made[NR], other[NR], gone[NR];
	uint32_t thing;

	(void)state;
	lines_begin(&l);
	lines_file(&l, "nn.log", "nn.log");
	for (int i = 0; i < NR; i++) {
		made[i] = lines_add(&l, i * 9000, handler(i), "create /data/q%d/f%d", i, i);
		lines_add(&l, i * 9000, handler(i), "made /data/q%d", i);
		other[i] = lines_add(&l, i * 9000 + 3000, handler(i + 1), "create /data/q%d/f%d", i,
				     NR + i);
		gone[i] = lines_add(&l, i * 9000 + 6000, handler(i + 2), "gone /data/q%d", i);
	}
	steps_begin(&s, &l);
	common_begin(&c, &s.w, &s.owners, s.w.bits);
	for (int i = 0; i < NR; i++) {
		uint32_t first = common_set(&c, steps_unit(&s, made[i]));
		uint32_t second = common_set(&c, steps_unit(&s, other[i]));
		uint32_t last = common_set(&c, steps_unit(&s, gone[i]));

		assert_true(common_tie(&c, first, second, &thing) <= COMMON_NONE);
		assert_true(common_tie(&c, first, last, &thing) > COMMON_NONE);
		assert_true(common_tie(&c, second, last, &thing) > COMMON_NONE);
	}
	common_done(&c);
	steps_end(&s);
	lines_end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_client_of_one_request_calls_late_is_of_that_request),
		cmocka_unit_test(clients_that_stay_are_as_late_as_those_of_one_request),
		cmocka_unit_test(what_a_client_of_one_request_calls_again_is_of_that_request),
		cmocka_unit_test(
			what_a_client_of_one_request_does_is_due_however_seldom_it_is_done),
		cmocka_unit_test(
			what_half_of_the_work_is_followed_by_is_due_if_the_same_one_calls_at_once),
		cmocka_unit_test(
			files_in_one_folder_are_different_things_and_the_folder_is_one_with_each),
	};

	return RUN(tests);
}
