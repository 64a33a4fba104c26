/* What is part of a request though no statement follows another: a thing that gets its own name
 * when it is complete, and what a client does while it does something else. */
#include "unit.h"

#include <stdlib.h>

#include "infer/requests/common.h"
#include "infer/requests/tie.h"
#include "request_lines.h"

enum { FILES = 160, PUT = 4, COPY = 5, MOVED = 7 };

static struct lines l;

struct file {
	uint64_t begun, closed, renamed, read;
};

static bool is_one(uint64_t a, uint64_t b)
{
	return l.requests[a] && l.requests[a] == l.requests[b];
}

/* Some files are written under a name with an ending; others are renamed later by somebody else. */
static void write_files(struct file *files, int nr_that_lose_it)
{
	lines_file(&l, "nn.log", "nn.log");
	for (int i = 0; i < FILES; i++) {
		const char *ending = i % PUT ? "" : "._PART_";
		struct file *f = &files[i];
		int ms = i * 1000;

		f->begun = lines_add(&l, ms, "handler 1", "create /data/dir/f%d%s", i, ending);
		f->closed =
			lines_add(&l, ms + 30, "handler 2", "closed /data/dir/f%d%s", i, ending);
		if (!(i % PUT) && i < nr_that_lose_it)
			f->renamed =
				lines_add(&l, ms + 450, "handler 3",
					  "rename /data/dir/f%d%s to /data/dir/f%d", i, ending, i);
		else if (i % PUT && !(i % MOVED))
			f->renamed = lines_add(&l, ms + 450, "handler 3",
					       "rename /data/dir/f%d to /data/dir/g%d", i, i);
	}
	lines_run(&l);
}

static void what_gets_its_own_name_is_complete(void **state)
{
	struct file files[FILES];

	(void)state;
	lines_begin(&l);
	write_files(files, FILES);
	for (int i = 0; i < FILES; i++)
		if (!(i % PUT))
			assert_true(is_one(files[i].closed, files[i].renamed));
		else if (!(i % MOVED))
			assert_false(is_one(files[i].closed, files[i].renamed));
	lines_end(&l);
}

static void an_ending_that_many_keep_tells_nothing(void **state)
{
	struct file files[FILES];

	(void)state;
	lines_begin(&l);
	write_files(files, FILES / 2);
	for (int i = 0; i < FILES / 2; i += PUT)
		assert_false(is_one(files[i].closed, files[i].renamed));
	lines_end(&l);
}

/* Clients write files and read others, some of them while they write. */
static void copy_files(struct file *files, int late)
{
	lines_file(&l, "nn.log", "nn.log");
	for (int i = 0; i < FILES; i++) {
		files[i].begun = lines_add(&l, i * 100, "handler 1",
					   "create /data/dir/f%d for client_x_%d", i, 100 + i);
		files[i].closed = lines_add(&l, i * 100 + 60, "handler 2",
					    "closed /data/dir/f%d by client_x_%d", i, 100 + i);
	}
	lines_file(&l, "dn.log", "dn.log");
	for (int i = 0; i < FILES; i++) {
		char thread[64];
		int file = (i * 7 + 3) % FILES;

		snprintf(thread, sizeof(thread), "sending blk_%d", 5000 + file);
		if (!(i % COPY))
			files[i].read =
				lines_add(&l, i * 100 + 30, thread, "begin blk_%d to client_x_%d",
					  5000 + file, 100 + i);
		if (!(i % COPY) && late)
			lines_add(&l, i * 100 + 30 + late, thread, "sent blk_%d to client_x_%d",
				  5000 + file, 100 + i);
		if (i % COPY == 1)
			files[i].read =
				lines_add(&l, i * 100 + 80, thread, "begin blk_%d to client_x_%d",
					  5000 + file, 100 + i);
	}
	lines_run(&l);
}

static void what_a_client_does_meanwhile_is_part_of_it(void **state)
{
	struct file files[FILES];

	(void)state;
	lines_begin(&l);
	copy_files(files, 0);
	for (int i = 0; i < FILES; i += COPY) {
		assert_true(is_one(files[i].begun, files[i].closed));
		assert_true(is_one(files[i].begun, files[i].read));
		assert_false(is_one(files[i + 1].begun, files[i + 1].read));
	}
	lines_end(&l);
}

static void who_does_several_things_at_once_does_not_tell(void **state)
{
	struct file files[FILES];

	(void)state;
	lines_begin(&l);
	copy_files(files, 50);
	for (int i = 0; i < FILES; i += COPY)
		assert_false(is_one(files[i].begun, files[i].read));
	lines_end(&l);
}

/* Each client writes files one after the other, and reads one while it writes some; one of its
 * files seems to be closed late, when it has begun others. */
static void who_begins_anew_has_ended_what_was_before(void **state)
{
	static const int pause[] = { 350, 9000, 900, 400, 6000 };
	struct file files[FILES];
	int ms[FILES + 1] = { 0 };

	(void)state;
	lines_begin(&l);
	for (int i = 0; i < FILES; i++)
		ms[i + 1] = ms[i] + 100 + pause[i % 5];
	lines_file(&l, "nn.log", "nn.log");
	for (int i = 0; i < FILES; i++) {
		int late = i % 16 == 5 ? ms[i + 3] - ms[i] : 60, client = 100 + i / 16;

		files[i].begun = lines_add(&l, ms[i], i % 2 ? "handler 1" : "handler 2",
					   "create /data/dir/f%d for client_x_%d", i, client);
		files[i].closed = lines_add(&l, ms[i] + late, "handler 3",
					    "closed /data/dir/f%d by client_x_%d", i, client);
	}
	lines_file(&l, "dn.log", "dn.log");
	for (int i = 0; i < FILES; i += 2) {
		char thread[64];

		snprintf(thread, sizeof(thread), "sending blk_%d", 5000 + i);
		files[i].read = lines_add(&l, ms[i] + 30, thread, "begin blk_%d to client_x_%d",
					  5000 + i, 100 + i / 16);
	}
	lines_run(&l);
	for (int i = 0; i + 1 < FILES; i++)
		assert_false(is_one(files[i].begun, files[i + 1].begun));
	for (int i = 0; i < FILES; i += 16)
		assert_true(is_one(files[i].begun, files[i].read));
	lines_end(&l);
}

/* Files in folders that are made for them, some of them called alike. */
static void what_is_called_alike_in_another_folder_is_another(void **state)
{
	struct file files[FILES];
	struct steps steps;
	struct ties ties;
	struct common c;
	uint32_t thing;

	(void)state;
	lines_begin(&l);
	lines_file(&l, "nn.log", "nn.log");
	for (int i = 0; i < FILES; i++) {
		char dir[] = { (char)('a' + i / 26), (char)('a' + i % 26), 0 };
		const char *name = i % 2 ? "bucket_" : "f";

		files[i].begun = lines_add(&l, i * 100, "handler 1", "create /data/%s/%s%d", dir,
					   name, i % 80);
		if (i >= FILES / 2)
			lines_add(&l, i * 100, "handler 1", "made folder /data/%s", dir);
		lines_add(&l, i * 100, "handler 1", "added /data/%s/%s%d", dir, name, i % 80);
		files[i].closed = lines_add(&l, i * 100 + 40, "handler 2", "closed /data/%s/%s%d",
					    dir, name, i % 80);
	}
	steps_begin(&steps, &l);
	ties_find(&ties, &steps.w, &steps.owners);
	common_begin(&c, &steps.w, &steps.owners, ties.bits);
	for (int i = 81; i < FILES; i += 2) {
		uint32_t set = common_set(&c, steps_unit(&steps, files[i].begun));
		uint32_t other = common_set(&c, steps_unit(&steps, files[i - 80].closed));
		uint32_t own = common_set(&c, steps_unit(&steps, files[i].closed));

		assert_true(common_tie(&c, own, set, &thing) > COMMON_NONE);
		assert_false(common_tie(&c, other, set, &thing) > COMMON_NONE);
	}
	common_done(&c);
	ties_done(&ties);
	steps_end(&steps);
	lines_end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_gets_its_own_name_is_complete),
		cmocka_unit_test(an_ending_that_many_keep_tells_nothing),
		cmocka_unit_test(what_a_client_does_meanwhile_is_part_of_it),
		cmocka_unit_test(who_does_several_things_at_once_does_not_tell),
		cmocka_unit_test(who_begins_anew_has_ended_what_was_before),
		cmocka_unit_test(what_is_called_alike_in_another_folder_is_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
