/* What each step of the rebuilding of requests finds out: hubs, amounts, units, owners, families.
 */
#include "unit.h"

#include <stdlib.h>

#include "request_lines.h"

static struct lines l;
static struct steps s;

static void begin(void)
{
	lines_begin(&l);
	lines_file(&l, "nn.log", "nn.log");
}

static void end(void)
{
	steps_end(&s);
	lines_end(&l);
}

static void threads_of_a_pool_are_one_family_and_ports_are_not(void **state)
{
	const char *const names[] = { "handler 1 on 8020", "handler 2 on 8020",
				      "handler 3 on 9000", "main",
				      "write [blk_1]",     "write [blk_2]" };
	uint32_t family[6];

	(void)state;
	begin();
	for (int i = 0; i < 6; i++)
		lines_add(&l, i, names[i], "job_1_%d", i);
	steps_begin(&s, &l);
	for (int i = 0; i < 6; i++)
		family[i] = s.w.family[names_find(&l.g.threads, str_of(names[i]))];
	assert_int_equal(family[0], family[1]);
	assert_int_equal(family[4], family[5]);
	assert_int_not_equal(family[0], family[3]);
	assert_int_not_equal(family[0], family[4]);
	end();
}

static void what_stands_in_half_of_the_lines_is_a_hub(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 100; i++)
		lines_add(&l, i * 10, "main", "blk_%d to 10.0.0.1:%d", 100 + i,
			  i % 3 ? 8020 : 9000 + i);
	steps_begin(&s, &l);
	assert_true(s.w.is_hub[steps_thing(&s, "address", "10.0.0.1:8020")]);
	assert_false(s.w.is_hub[steps_thing(&s, "address", "10.0.0.1:9003")]);
	assert_false(s.w.is_hub[steps_thing(&s, "blk#1", "blk_107")]);
	end();
}

static void numbers_that_rise_name_things_and_others_are_amounts(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 40; i++)
		lines_add(&l, i * 10, "main", "call=%d size=%d", 100 + i, i * 7919 % 1009);
	steps_begin(&s, &l);
	assert_false(s.w.is_measure[names_find(&l.g.kinds, STR("call="))]);
	assert_true(s.w.is_measure[names_find(&l.g.kinds, STR("size="))]);
	end();
}

/* Two requests, one after another in each thread of a pool, both interleaved in the file. */
static void the_lines_of_a_thread_are_cut_where_another_name_begins(void **state)
{
	uint64_t opened[60], closed[60];

	(void)state;
	begin();
	for (int i = 0; i < 60; i += 2) {
		for (int k = 0; k < 2; k++)
			opened[i + k] = lines_add(&l, i * 20, k ? "pool 2" : "pool 1",
						  "open file_%d", 500 + i + k);
		for (int k = 1; k >= 0; k--)
			closed[i + k] = lines_add(&l, i * 20 + 1, k ? "pool 2" : "pool 1",
						  "close file_%d", 500 + i + k);
	}
	steps_begin(&s, &l);
	for (int i = 0; i < 60; i++) {
		assert_ptr_equal(steps_unit(&s, opened[i]), steps_unit(&s, closed[i]));
		if (i > 1)
			assert_ptr_not_equal(steps_unit(&s, opened[i]),
					     steps_unit(&s, closed[i - 2]));
	}
	end();
}

static void units_stand_in_order_and_hold_every_line_once(void **state)
{
	uint8_t seen[300] = { 0 };
	int64_t last = INT64_MIN;

	(void)state;
	begin();
	for (int i = 0; i < 300; i++)
		lines_add(&l, i * 37 % 1000, i % 3 ? "pool 1" : "other", "%s blk_%d",
			  i % 2 ? "get" : "put", i / 4);
	steps_begin(&s, &l);
	vec_each (&s.w.units, u) {
		assert_true(u->start >= last && u->end >= u->start && u->to > u->from);
		last = u->start;
		for (uint32_t at = u->from; at < u->to; at++)
			assert_int_equal(seen[work_line(&s.w, at)->event]++, 0);
	}
	for (int i = 0; i < 300; i++)
		assert_int_equal(seen[i], 1);
	end();
}

static void what_always_comes_with_one_other_is_owned_by_it(void **state)
{
	uint32_t blk, path;
	const struct unit *alone;
	bool has_path = false;
	uint64_t line;

	(void)state;
	begin();
	for (int i = 0; i < 60; i++)
		lines_add(&l, i * 1000, "handler 1", "allocate blk_%d for /data/dir/f%d", 100 + i,
			  i / 3);
	lines_file(&l, "dn.log", "dn.log");
	line = lines_add(&l, 61000, "receiver", "received blk_130");
	steps_begin(&s, &l);
	blk = names_find(&l.g.kinds, STR("blk#1"));
	path = names_find(&l.g.kinds, STR("path/data"));
	assert_true(hold_is_owner(&s.owners, blk, path));
	assert_false(hold_is_owner(&s.owners, path, blk));
	alone = steps_unit(&s, line);
	for (uint32_t i = 0; i < alone->nr_held; i++) {
		struct held h = s.w.held.v[alone->held_at + i];

		if (h.thing == steps_thing(&s, "path/data", "/data/dir/f10"))
			has_path = h.depth == 1;
	}
	assert_true(has_path);
	end();
}

static void a_unit_that_names_thousands_of_things_takes_some_of_them(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 3000; i++)
		lines_add(&l, i / 100, "main", "going on with job_17_1 item_%d%s", i,
			  i % 2 ? " more" : "");
	steps_begin(&s, &l);
	vec_each (&s.w.units, u)
		assert_true(u->nr_held <= 1024);
	end();
}

static uint32_t family_of(uint64_t line)
{
	return steps_unit(&s, line)->family;
}

static void families_are_found_by_names_numbers_and_files(void **state)
{
	uint64_t named[2], parts[2], numbered[2], pairs[2], plain[2];

	(void)state;
	begin();
	for (int i = 0; i < 2; i++) {
		named[i] = lines_add(&l, i * 1000, "main", "submitted application_17_%04d", i + 1);
		parts[i] = lines_add(&l, i * 1000 + 500, "rpc", "start container_17_%04d_01_000001",
				     i + 1);
	}
	lines_file(&l, "rm.log", "rm.log");
	for (int i = 0; i < 2; i++) {
		numbered[i] = lines_add(&l, 5000 + i * 3000, "events", "state of applicationId=%d",
					i + 1);
		pairs[i] = lines_add(&l, 6000 + i * 3000, "store",
				     "app { id: %d cluster_timestamp: 17 }", i + 1);
	}
	for (int i = 0; i < 2; i++) {
		char log[64];

		snprintf(log, sizeof(log), "container_17_%04d_01_000001/syslog", i + 1);
		lines_file(&l, log, log);
		plain[i] = lines_add(&l, 900 + i * 1000, "main", "hello world");
	}
	steps_begin(&s, &l);
	for (int i = 0; i < 2; i++) {
		assert_int_not_equal(family_of(named[i]), 0);
		assert_int_equal(family_of(parts[i]), family_of(named[i]));
		assert_int_equal(family_of(numbered[i]), family_of(named[i]));
		assert_int_equal(family_of(pairs[i]), family_of(named[i]));
		assert_int_equal(family_of(plain[i]), family_of(named[i]));
	}
	assert_int_not_equal(family_of(named[0]), family_of(named[1]));
	end();
}

static void who_has_a_parent_is_of_the_family_of_the_first(void **state)
{
	uint64_t line[4];

	(void)state;
	begin();
	lines_add(&l, 0, "main", "start pid=10");
	line[0] = lines_add(&l, 10, "w 1", "start pid=11, ppid=10");
	line[1] = lines_add(&l, 20, "w 2", "start pid=12, ppid=11");
	lines_add(&l, 30, "main", "start pid=50");
	line[2] = lines_add(&l, 40, "w 3", "start pid=51, ppid=50");
	line[3] = lines_add(&l, 50, "w 4", "start pid=52, ppid=51");
	steps_begin(&s, &l);
	assert_int_equal(family_of(line[0]), steps_thing(&s, "pid=", "10"));
	assert_int_equal(family_of(line[1]), family_of(line[0]));
	assert_int_equal(family_of(line[3]), family_of(line[2]));
	assert_int_not_equal(family_of(line[2]), family_of(line[0]));
	end();
}

static void parents_in_a_circle_end(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 20; i++)
		lines_add(&l, i, "main", "pid=%d ppid=%d", 10 + i % 5, 10 + (i + 1) % 5);
	steps_begin(&s, &l);
	assert_true(s.w.units.nr > 0);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_of_a_pool_are_one_family_and_ports_are_not),
		cmocka_unit_test(what_stands_in_half_of_the_lines_is_a_hub),
		cmocka_unit_test(numbers_that_rise_name_things_and_others_are_amounts),
		cmocka_unit_test(the_lines_of_a_thread_are_cut_where_another_name_begins),
		cmocka_unit_test(units_stand_in_order_and_hold_every_line_once),
		cmocka_unit_test(what_always_comes_with_one_other_is_owned_by_it),
		cmocka_unit_test(a_unit_that_names_thousands_of_things_takes_some_of_them),
		cmocka_unit_test(families_are_found_by_names_numbers_and_files),
		cmocka_unit_test(who_has_a_parent_is_of_the_family_of_the_first),
		cmocka_unit_test(parents_in_a_circle_end),
	};

	return RUN(tests);
}
