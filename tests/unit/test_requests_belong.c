/* Where work ends and to whom it belongs: visits, lists, calls in one thread, sessions that are
 * open. */
#include "unit.h"

#include <stdlib.h>

#include "request_lines.h"

enum { APPS = 4, BLOCKS = 10 };

static struct lines l;

static void together(uint64_t a, uint64_t b)
{
	if (!l.requests[a] || l.requests[a] != l.requests[b])
		fail_msg("lines %lu and %lu are in %lu and %lu", (unsigned long)a, (unsigned long)b,
			 (unsigned long)l.requests[a], (unsigned long)l.requests[b]);
}

static void apart(uint64_t a, uint64_t b)
{
	if (l.requests[a] && l.requests[a] == l.requests[b])
		fail_msg("lines %lu and %lu are both in %lu", (unsigned long)a, (unsigned long)b,
			 (unsigned long)l.requests[a]);
}

static int block(int app, int nr)
{
	return 5000 + app * BLOCKS + nr;
}

/* Applications that write blocks; each begins when half of the one before is done. */
static void write_blocks(uint64_t *submitted)
{
	lines_begin(&l);
	lines_file(&l, "rm.log", "rm.log");
	for (int i = 0; i < APPS; i++)
		submitted[i] =
			lines_add(&l, i * 5000, "main", "submitted application_17_%04d", i + 1);
	lines_file(&l, "nm.log", "nm.log");
	for (int i = 0; i < APPS; i++)
		lines_add(&l, i * 5000 + 10, "launcher", "start container_17_%04d_01_000001",
			  i + 1);
	lines_file(&l, "nn.log", "nn.log");
	for (int i = 0; i < APPS; i++)
		for (int k = 0; k < BLOCKS; k++)
			lines_add(&l, i * 5000 + 20 + k * 900, i % 2 ? "handler 1" : "handler 2",
				  "allocate blk_%d for /out/application_17_%04d/part%d",
				  block(i, k), i + 1, k);
}

static void who_scans_blocks_in_turn_works_for_no_application(void **state)
{
	uint64_t submitted[APPS], scanned[APPS * BLOCKS];
	int nr = 0;

	(void)state;
	write_blocks(submitted);
	lines_file(&l, "dn.log", "dn.log");
	/* every third block, some seconds later, in the order of nothing */
	for (int i = 0; i < APPS; i++)
		for (int k = 0; k < BLOCKS; k += 3)
			scanned[nr++] = lines_add(&l, i * 5000 + 1500 + k * 900 + k * 7 % 4 * 300,
						  "scanner", "verified blk_%d", block(i, k));
	lines_run(&l);
	for (int i = 0; i < APPS; i++)
		for (int k = 0; k < nr; k++)
			apart(submitted[i], scanned[k]);
	lines_end(&l);
}

static void who_scans_most_blocks_works_for_no_application(void **state)
{
	uint64_t submitted[APPS], scanned[APPS * BLOCKS];
	int nr = 0;

	(void)state;
	write_blocks(submitted);
	lines_file(&l, "dn.log", "dn.log");
	/* all but every fifth */
	for (int i = 0; i < APPS; i++)
		for (int k = 0; k < BLOCKS; k++)
			if (k % 5 != 3)
				scanned[nr++] =
					lines_add(&l, i * 5000 + 1500 + k * 900 + k * 7 % 4 * 300,
						  "scanner", "verified blk_%d", block(i, k));
	lines_run(&l);
	for (int i = 0; i < APPS; i++)
		for (int k = 0; k < nr; k++)
			apart(submitted[i], scanned[k]);
	lines_end(&l);
}

static void what_is_seldom_and_scanned_by_chance_makes_no_scan_due(void **state)
{
	uint64_t submitted[APPS], scanned[APPS * BLOCKS];
	int nr = 0;

	(void)state;
	write_blocks(submitted);
	/* ten of the blocks that are scanned */
	for (int i = 0; i < 10; i++)
		lines_add(&l, i / 4 * 5000 + 60 + i % 4 * 2700, "handler 3", "waits for blk_%d",
			  block(i / 4, i % 4 * 3));
	lines_file(&l, "dn.log", "dn.log");
	for (int i = 0; i < APPS; i++)
		for (int k = 0; k < BLOCKS; k += 3)
			scanned[nr++] = lines_add(&l, i * 5000 + 1500 + k * 900 + k * 7 % 4 * 300,
						  "scanner", "verified blk_%d", block(i, k));
	lines_run(&l);
	for (int i = 0; i < APPS; i++)
		for (int k = 0; k < nr; k++)
			apart(submitted[i], scanned[k]);
	lines_end(&l);
}

/* Two applications write a file each by clients of their own; two others read these, one after the
 * other by one connection. */
static void a_connection_says_nothing_of_who_comes_next(void **state)
{
	uint64_t submitted[APPS], read[2];

	(void)state;
	write_blocks(submitted);
	for (int i = 0; i < 2; i++) {
		lines_add(&l, i * 5000 + 40, "handler 3",
			  "client_%d_1 begins /out/application_17_%04d/job", 700 + i, i + 1);
		lines_add(&l, i * 5000 + 950, "handler 4", "client_%d_1 adds blk_%d", 700 + i,
			  6000 + i);
	}
	lines_add(&l, 5060, "handler 3", "allocate blk_7001 for /out/application_17_0002/list");
	for (int i = 0; i < 12; i++)
		lines_add(&l, i * 1500, "acceptor", "accepts 10.0.0.1:%d", 5400 + i);
	read[0] = lines_add(&l, 5500, "client_900_1 at 10.0.0.1:5331 [blk_6000]", "sent slowly");
	read[1] = lines_add(&l, 5900, "client_901_1 at 10.0.0.1:5331 [blk_7001]",
			    "sent to application_17_0002");
	lines_run(&l);
	together(submitted[0], read[0]);
	together(submitted[1], read[1]);
	lines_end(&l);
}

/* A block that one application writes and another one reads a minute later. */
static void what_is_slow_is_of_who_dealt_with_it_before(void **state)
{
	uint64_t submitted[APPS], stored;

	(void)state;
	write_blocks(submitted);
	lines_add(&l, 20, "handler 3", "allocate blk_7001 for /out/application_17_0001/list");
	stored = lines_add(&l, 620, "handler 7", "is added to blk_7001");
	lines_add(&l, 60000, "reader", "application_17_0004 reads blk_7001");
	lines_run(&l);
	together(submitted[0], stored);
	apart(submitted[3], stored);
	lines_end(&l);
}

static void what_follows_every_block_at_once_is_of_its_application(void **state)
{
	uint64_t submitted[APPS], received[APPS][BLOCKS];

	(void)state;
	write_blocks(submitted);
	lines_file(&l, "dn.log", "dn.log");
	for (int i = 0; i < APPS; i++)
		for (int k = 0; k < BLOCKS; k++)
			received[i][k] = lines_add(&l, i * 5000 + 25 + k * 900, "receiver",
						   "received blk_%d", block(i, k));
	lines_run(&l);
	for (int i = 0; i < APPS; i++)
		for (int k = 0; k < BLOCKS; k++)
			together(submitted[i], received[i][k]);
	lines_end(&l);
}

static void the_same_list_with_other_things_in_it_is_another_piece_of_work(void **state)
{
	uint64_t submitted[APPS], both, own[2];

	(void)state;
	write_blocks(submitted);
	lines_file(&l, "mon.log", "mon.log");
	own[0] = lines_add(&l, 15000, "monitor", "delete blk_%d, blk_%d", block(0, 1), block(0, 2));
	both = lines_add(&l, 15900, "monitor", "delete blk_%d, blk_%d", block(0, 2), block(1, 1));
	own[1] = lines_add(&l, 16800, "monitor", "delete blk_%d, blk_%d", block(1, 1), block(1, 2));
	lines_run(&l);
	together(submitted[0], own[0]);
	together(submitted[1], own[1]);
	apart(submitted[0], both);
	apart(submitted[1], both);
	lines_end(&l);
}

/* A handler takes calls of clients and of other servers as they come. */
static void calls_that_name_the_same_by_chance_are_two_units(void **state)
{
	struct steps s;
	uint64_t allocated[40], stored[40];

	(void)state;
	lines_begin(&l);
	lines_file(&l, "nn.log", "nn.log");
	for (int i = 0; i < 40; i++) {
		allocated[i] = lines_add(&l, i * 40, "handler 1",
					 "allocate blk_%d for /data/dir/f%d", 1000 + i, i);
		stored[i] = lines_add(&l, i * 40 + 1, "handler 1", "stored blk_%d",
				      1000 + (i % 4 ? i - 1 : i));
	}
	steps_begin(&s, &l);
	for (int i = 0; i < 40; i++)
		assert_ptr_not_equal(steps_unit(&s, allocated[i]), steps_unit(&s, stored[i]));
	steps_end(&s);
	lines_end(&l);
}

enum { FILES = 200, AGAIN = 6, OLD = 90, LATER = 130 };

/* A file is written, or its last block is gone on with and another one is begun. */
static void write_file(int i, uint64_t *allocated, uint64_t *closed)
{
	int k = i - LATER;

	for (int n = 0; n < 2; n++)
		lines_add(&l, i * 300 + n * 20, n ? "handler 1" : "handler 3",
			  "allocate blk_%d for /data/dir/f%d", 1000 + 2 * i + n, i);
	lines_add(&l, i * 300 + 60, "handler 2", "closed /data/dir/f%d", i);
	if (k < 0 || k >= AGAIN)
		return;
	allocated[k] = lines_add(&l, i * 300 + 130, "handler 1",
				 "allocate blk_%d for /data/dir/f%d", 2000 + k, OLD + k);
	closed[k] = lines_add(&l, i * 300 + 160, "handler 2", "closed /data/dir/f%d", OLD + k);
}

static void what_waits_for_the_same_end_of_the_same_file_is_one_request(void **state)
{
	uint64_t received[AGAIN], allocated[AGAIN], closed[AGAIN];

	(void)state;
	lines_begin(&l);
	lines_file(&l, "nn.log", "nn.log");
	for (int i = 0; i < FILES; i++)
		write_file(i, allocated, closed);
	lines_file(&l, "dn.log", "dn.log");
	for (int i = 0; i < FILES; i++) {
		int k = i - LATER;

		for (int n = 0; n < 2; n++)
			lines_add(&l, i * 300 + 10 + n * 20, "xceiver 1", "received blk_%d",
				  1000 + 2 * i + n);
		if (k < 0 || k >= AGAIN)
			continue;
		received[k] = lines_add(&l, i * 300 + 110, "xceiver 2", "received blk_%d",
					1001 + 2 * (OLD + k));
		lines_add(&l, i * 300 + 140, "xceiver 2", "received blk_%d", 2000 + k);
	}
	lines_run(&l);
	for (int i = 0; i < AGAIN; i++) {
		together(received[i], allocated[i]);
		together(received[i], closed[i]);
		if (i)
			apart(received[i], received[i - 1]);
	}
	lines_end(&l);
}

static uint32_t kind_of(const struct steps *s, const char *kind, const char *path)
{
	return s->w.g->kind_of.v[steps_thing(s, kind, path)];
}

static void folders_that_one_statement_names_are_of_one_tree(void **state)
{
	struct steps s;
	const struct unit *u;
	bool has_owner = false;

	(void)state;
	lines_begin(&l);
	lines_file(&l, "nn.log", "nn.log");
	for (int i = 0; i < 60; i++)
		lines_add(&l, i * 40, i % 2 ? "handler 1" : "handler 2",
			  "allocate blk_%d for /%s/dir/f%d", 1000 + i, i / 2 % 2 ? "user" : "logs",
			  i / 2);
	lines_file(&l, "dn.log", "dn.log");
	for (int i = 0; i < 60; i++)
		lines_add(&l, i * 40 + 5, "xceiver", "stored blk_%d at /disk/dir/b%d", 1000 + i, i);
	steps_begin(&s, &l);
	assert_int_equal(kind_of(&s, "path/user", "/user/dir/f1"),
			 kind_of(&s, "path/logs", "/logs/dir/f0"));
	assert_int_not_equal(kind_of(&s, "path/user", "/user/dir/f1"),
			     kind_of(&s, "path/disk", "/disk/dir/b1"));
	u = steps_unit(&s, 60);
	for (uint32_t i = 0; i < u->nr_held; i++)
		has_owner |= s.w.held.v[u->held_at + i].thing ==
			     steps_thing(&s, "path/logs", "/logs/dir/f0");
	assert_true(has_owner);
	steps_end(&s);
	lines_end(&l);
}

/* --- what names are worth -------------------------------------------------------------------- */

/* A server says who it is in each of its calls; the log goes on for long without any. */
static void idle_time_does_not_change_what_is_part_of_the_system(void **state)
{
	(void)state;
	for (int idle = 0; idle < 2; idle++) {
		struct steps s;

		lines_begin(&l);
		lines_file(&l, "nn.log", "nn.log");
		for (int i = 0; i < 200; i++)
			lines_add(&l, i * 40, "handler 1", "report of server %d, infoPort=%d",
				  i % 3, 9860 + i % 3);
		lines_add(&l, idle ? 3600000 : 8000, "main", "stopped");
		steps_begin(&s, &l);
		for (int i = 0; i < 3; i++) {
			char port[16];

			snprintf(port, sizeof(port), "%d", 9860 + i);
			assert_true(s.w.is_hub[steps_thing(&s, "infoPort=", port)]);
		}
		steps_end(&s);
		lines_end(&l);
	}
}

static void a_number_that_comes_back_is_an_amount(void **state)
{
	struct steps s;
	uint32_t level, handed;

	(void)state;
	lines_begin(&l);
	lines_file(&l, "rm.log", "rm.log");
	for (int i = 0; i < 200; i++) {
		lines_add(&l, i * 40, "scheduler", "used=%d", i < 8 ? i : (i * 5) % 8);
		lines_add(&l, i * 40 + 1, "scheduler", "began pid=%d", 100 + i);
	}
	steps_begin(&s, &l);
	level = steps_thing(&s, "used=", "3");
	handed = steps_thing(&s, "pid=", "150");
	assert_true(s.w.is_measure[s.w.g->kind_of.v[level]]);
	assert_false(s.w.is_measure[s.w.g->kind_of.v[handed]]);
	steps_end(&s);
	lines_end(&l);
}

static void lines_about_blocks_and_files_of_others_are_cut_apart(void **state)
{
	struct steps s;
	uint64_t stored[60], closed[60];

	(void)state;
	lines_begin(&l);
	lines_file(&l, "nn.log", "nn.log");
	for (int i = 0; i < 60; i++)
		lines_add(&l, i * 40, i % 2 ? "handler 1" : "handler 2",
			  "allocate blk_%d for /data/dir/f%d", 1000 + i, i / 2);
	lines_file(&l, "nn2.log", "nn2.log");
	for (int i = 0; i < 60; i++) {
		stored[i] = lines_add(&l, i * 40 + 10, "handler", "stored blk_%d", 1000 + i);
		closed[i] = lines_add(&l, i * 40 + 10, "handler", "closed /data/dir/f%d",
				      i % 3 ? i / 2 : (i / 2 + 7) % 30);
	}
	steps_begin(&s, &l);
	for (int i = 0; i < 60; i += 3)
		assert_ptr_not_equal(steps_unit(&s, stored[i]), steps_unit(&s, closed[i]));
	steps_end(&s);
	lines_end(&l);
}

/* Two servers report, each under its own name; one of them ends in the middle of the run. */
static void who_only_says_who_he_is_hands_over_as_well(void **state)
{
	enum { REPORTS = 120 };
	uint64_t came[REPORTS], done[REPORTS];
	int right = 0;

	(void)state;
	lines_begin(&l);
	lines_file(&l, "nn.log", "nn.log");
	for (int i = 0; i < REPORTS; i++) {
		int server = i < 40 ? i % 2 : 1;

		came[i] =
			lines_add(&l, i * 700, "handler", "report from server_%d at 10.0.0.%d:5000",
				  70 + server, 1 + server);
		done[i] = lines_add(&l, i * 700 + 3, "processor", "took blk_%d from 10.0.0.%d:5000",
				    1000 + i, 1 + server);
	}
	lines_run(&l);
	for (int i = 0; i < REPORTS; i++)
		right += l.requests[came[i]] && l.requests[came[i]] == l.requests[done[i]];
	assert_true(right >= REPORTS * 9 / 10);
	lines_end(&l);
}

static void what_is_done_again_after_all_has_come_is_another_request(void **state)
{
	enum { WRITES = 100, EACH = 10 };
	uint64_t allocated[WRITES], again[WRITES];

	(void)state;
	lines_begin(&l);
	lines_file(&l, "nn.log", "nn.log");
	for (int i = 0; i < WRITES; i++) {
		allocated[i] = lines_add(&l, i * 400, "handler 1", "allocate blk_%d", 1000 + i);
		lines_add(&l, i * 400 + 40, "handler 2", "closed blk_%d", 1000 + i);
	}
	lines_file(&l, "dn.log", "dn.log");
	for (int i = 0; i < WRITES; i++) {
		char thread[64];

		snprintf(thread, sizeof(thread), "receiver of blk_%d for c_%d", 1000 + i,
			 70000 + i);
		lines_add(&l, i * 400 + 20, thread, "received blk_%d", 1000 + i);
		snprintf(thread, sizeof(thread), "receiver of blk_%d for c_%d", 1000 + i,
			 80000 + i);
		if (i % EACH == EACH - 1)
			again[i] =
				lines_add(&l, i * 400 + 100, thread, "received blk_%d", 1000 + i);
	}
	lines_run(&l);
	for (int i = EACH - 1; i < WRITES; i += EACH)
		apart(allocated[i], again[i]);
	lines_end(&l);
}

/* A warning that names nothing comes in front of what it is about, behind whatever was before. */
static void a_line_that_names_nothing_goes_with_what_always_follows_it(void **state)
{
	struct steps s;
	uint64_t warned[40], allocated[40], before[40];

	(void)state;
	lines_begin(&l);
	lines_file(&l, "nn.log", "nn.log");
	for (int i = 0; i < 40; i++) {
		for (int k = 0; k < 5; k++)
			before[i] = lines_add(&l, i * 40, "handler", "%s blk_%d",
					      i % 2 ? "stored" : "closed", 2000 + i * 5 + k);
		warned[i] = lines_add(&l, i * 40 + 4, "handler", "not enough room");
		allocated[i] = lines_add(&l, i * 40 + 5, "handler", "allocate blk_%d", 1000 + i);
	}
	steps_begin(&s, &l);
	for (int i = 0; i < 40; i++) {
		assert_ptr_equal(steps_unit(&s, warned[i]), steps_unit(&s, allocated[i]));
		assert_ptr_not_equal(steps_unit(&s, warned[i]), steps_unit(&s, before[i]));
	}
	steps_end(&s);
	lines_end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_scans_blocks_in_turn_works_for_no_application),
		cmocka_unit_test(who_scans_most_blocks_works_for_no_application),
		cmocka_unit_test(what_is_seldom_and_scanned_by_chance_makes_no_scan_due),
		cmocka_unit_test(a_connection_says_nothing_of_who_comes_next),
		cmocka_unit_test(what_is_slow_is_of_who_dealt_with_it_before),
		cmocka_unit_test(what_follows_every_block_at_once_is_of_its_application),
		cmocka_unit_test(the_same_list_with_other_things_in_it_is_another_piece_of_work),
		cmocka_unit_test(calls_that_name_the_same_by_chance_are_two_units),
		cmocka_unit_test(folders_that_one_statement_names_are_of_one_tree),
		cmocka_unit_test(idle_time_does_not_change_what_is_part_of_the_system),
		cmocka_unit_test(a_number_that_comes_back_is_an_amount),
		cmocka_unit_test(lines_about_blocks_and_files_of_others_are_cut_apart),
		cmocka_unit_test(who_only_says_who_he_is_hands_over_as_well),
		cmocka_unit_test(what_is_done_again_after_all_has_come_is_another_request),
		cmocka_unit_test(a_line_that_names_nothing_goes_with_what_always_follows_it),
		cmocka_unit_test(what_waits_for_the_same_end_of_the_same_file_is_one_request),
	};

	return RUN(tests);
}
