/* What one request does to the parts of a file: old blocks go, new ones come, each is told of. */
#include "unit.h"

#include <stdlib.h>

#include "request_lines.h"

enum { FILES = 240, GO = 3, EACH = 6, NEW = 5000 };

static struct lines l;

struct file {
	uint64_t allocated, gone, again, gone_again;
};

static int ms_of(int i)
{
	return i * 1000;
}

/* One in so many takes as long as that; 0: all take the pause. */
static int slow_each, slow_ms;

static int pause_of(int i, int pause)
{
	return slow_each && i / EACH % slow_each == 0 ? slow_ms : pause;
}

/* The handlers of one server: some files lose their blocks, and some of these come back. */
static void serve(struct file *files, int pause)
{
	lines_file(&l, "nn.log", "nn.log");
	for (int i = 0; i < FILES; i++) {
		struct file *f = &files[i];
		int ms = ms_of(i);

		f->allocated = lines_add(&l, ms, "handler 1", "allocate blk_%d for /data/dir/f%d",
					 1000 + i, i);
		lines_add(&l, ms + 30, "handler 2", "closed /data/dir/f%d", i);
		if (i % GO)
			continue;
		f->gone = lines_add(&l, ms + 400, "handler 3", "gone blk_%d", 1000 + i);
		if (i % EACH)
			continue;
		ms += 400 + pause_of(i, pause);
		f->again = lines_add(&l, ms, "handler 4", "allocate blk_%d for /data/dir/f%d",
				     NEW + i, i);
		lines_add(&l, ms + 30, "handler 5", "closed /data/dir/f%d", i);
		if (i % (2 * EACH))
			f->gone_again =
				lines_add(&l, ms + 250, "handler 3", "gone blk_%d", NEW + i);
	}
}

static void store(int pause)
{
	lines_file(&l, "dn.log", "dn.log");
	for (int i = 0; i < FILES; i++) {
		lines_add(&l, ms_of(i) + 10, "xceiver 1", "received blk_%d", 1000 + i);
		if (!(i % EACH))
			lines_add(&l, ms_of(i) + 410 + pause_of(i, pause), "xceiver 1",
				  "received blk_%d", NEW + i);
	}
}

static bool is_one(uint64_t a, uint64_t b)
{
	return l.requests[a] && l.requests[a] == l.requests[b];
}

static void what_is_emptied_and_begun_anew_is_one_request(void **state)
{
	struct file files[FILES];

	(void)state;
	lines_begin(&l);
	serve(files, 30);
	store(30);
	lines_run(&l);
	for (int i = 0; i < FILES; i += GO) {
		assert_false(is_one(files[i].allocated, files[i].gone));
		if (i % EACH)
			continue;
		assert_true(is_one(files[i].gone, files[i].again));
		if (i % (2 * EACH))
			assert_false(is_one(files[i].gone_again, files[i].again));
	}
	lines_end(&l);
}

static void what_is_begun_much_later_is_another_request(void **state)
{
	struct file files[FILES];

	(void)state;
	lines_begin(&l);
	serve(files, 290);
	store(290);
	lines_run(&l);
	for (int i = 0; i < FILES; i += EACH)
		assert_false(is_one(files[i].gone, files[i].again));
	lines_end(&l);
}

/* On a busy machine one in four is begun anew after a third of a second. */
static void what_is_often_begun_anew_may_be_later_for_once(void **state)
{
	struct file files[FILES];

	(void)state;
	slow_each = 4;
	slow_ms = 290;
	lines_begin(&l);
	serve(files, 30);
	store(30);
	lines_run(&l);
	for (int i = 0; i < FILES; i += EACH)
		assert_true(is_one(files[i].gone, files[i].again));
	lines_end(&l);
	slow_each = 0;
}

/* Closing a file says of each of its blocks, now and then, that it has too few replicas. */
static void what_is_said_of_one_part_after_another_is_one_request(void **state)
{
	uint64_t closed[FILES], low[FILES][2];

	(void)state;
	lines_begin(&l);
	lines_file(&l, "nn.log", "nn.log");
	for (int i = 0; i < FILES; i++) {
		for (int k = 0; k < 2; k++)
			lines_add(&l, ms_of(i) + k * 40, k ? "handler 1" : "handler 3",
				  "allocate blk_%d for /data/dir/f%d", 1000 + 2 * i + k, i);
		closed[i] = lines_add(&l, ms_of(i) + 80, "handler 2", "closed /data/dir/f%d", i);
		for (int k = 0; k < 2 && i % EACH == 0; k++)
			low[i][k] = lines_add(&l, ms_of(i) + 80, "handler 2", "low on blk_%d",
					      1000 + 2 * i + k);
	}
	lines_run(&l);
	for (int i = 0; i < FILES; i += EACH) {
		assert_true(is_one(closed[i], low[i][0]));
		assert_true(is_one(closed[i], low[i][1]));
	}
	lines_end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_emptied_and_begun_anew_is_one_request),
		cmocka_unit_test(what_is_begun_much_later_is_another_request),
		cmocka_unit_test(what_is_often_begun_anew_may_be_later_for_once),
		cmocka_unit_test(what_is_said_of_one_part_after_another_is_one_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
