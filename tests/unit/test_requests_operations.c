/* What the lines of one request deal with, and what is done for an application before it has a
 * name. */
#include "unit.h"

#include <stdlib.h>

#include "infer/requests/operation.h"
#include "request_lines.h"

enum { NR = 60, APPS = 12 };

static struct lines l;
static struct steps s;

static void begin(const char *log)
{
	lines_begin(&l);
	lines_file(&l, log, log);
}

static void end(void)
{
	steps_end(&s);
	lines_end(&l);
}

static const struct seen_line *line_of(uint64_t nr)
{
	vec_each (&s.w.g->lines, line)
		if (line->event == nr)
			return line;
	fail_msg("line %lu is not there", (unsigned long)nr);
	return NULL;
}

static uint64_t operation(const struct operations *p, uint64_t line)
{
	return operations_of(p, steps_unit(&s, line), line_of(line));
}

/* Most clients write one file, so that they seem to be part of it, as its blocks are. */
static void who_writes_blocks_is_no_object(void **state)
{
	uint64_t create[NR], closed[NR], allocate[NR][2];
	struct operations *p;

	(void)state;
	begin("nn.log");
	for (int i = 0; i < NR; i++) {
		int file = i % 5 == 4 ? i - 1 : i;

		create[i] = lines_add(&l, i * 2000, "handler 1",
				      "create /data/dir/f%d for client_%d", file, 100 + i);
		for (int k = 0; k < 2; k++)
			allocate[i][k] = lines_add(&l, i * 2000 + 20 + k, "handler 2",
						   "allocate blk_%d for /data/dir/f%d",
						   1000 + 2 * i + k, file);
		closed[i] = lines_add(&l, i * 2000 + 40, "handler 3", "closed /data/dir/f%d", file);
	}
	lines_file(&l, "dn.log", "dn.log");
	for (int i = 0; i < 2 * NR; i++)
		lines_add(&l, i / 2 * 2000 + 30 + i % 2, "xceiver 1",
			  "receiving blk_%d of client_%d", 1000 + i, 100 + i / 2);
	steps_begin(&s, &l);
	p = operations_new(&s.w, &s.owners);
	for (int i = 0; i < NR; i++) {
		assert_int_equal(operation(p, create[i]), operation(p, closed[i]));
		assert_int_not_equal(operation(p, allocate[i][0]), operation(p, closed[i]));
		assert_int_not_equal(operation(p, allocate[i][0]), operation(p, allocate[i][1]));
	}
	operations_free(p);
	end();
}

static void what_names_nothing_is_about_what_its_work_is_about(void **state)
{
	uint64_t choose[APPS][8], allocate[APPS][8];
	struct operations *p;

	(void)state;
	begin("rm.log");
	for (int i = 0; i < APPS; i++)
		lines_add(&l, i * 20000, "main", "start container_17_%04d_01_000001", i + 1);
	lines_file(&l, "nn.log", "nn.log");
	for (int i = 0; i < APPS; i++)
		for (int k = 0; k < 8; k++) {
			int64_t ms = i * 20000 + 1000 * k;

			choose[i][k] = lines_add(&l, ms, "handler 1", "not enough targets");
			allocate[i][k] =
				lines_add(&l, ms, "handler 1",
					  "allocate blk_%d for /out/application_17_%04d/p%d",
					  5000 + 8 * i + k, i + 1, k);
		}
	steps_begin(&s, &l);
	p = operations_new(&s.w, &s.owners);
	for (int i = 0; i < APPS; i++)
		for (int k = 0; k < 8; k++) {
			assert_int_equal(operation(p, choose[i][k]), operation(p, allocate[i][k]));
			if (k)
				assert_int_not_equal(operation(p, allocate[i][k]),
						     operation(p, allocate[i][0]));
		}
	operations_free(p);
	end();
}

/* Always two of them write into folders that are called the same. */
static void what_a_client_prepares_for_an_application_is_of_it(void **state)
{
	uint64_t prepared[APPS], submitted[APPS];

	(void)state;
	begin("nn.log");
	for (int i = 0; i < APPS; i++) {
		int64_t ms = i * 20000;

		prepared[i] =
			lines_add(&l, ms, "handler 1", "closed /user/u%d/tmp_3_%d/in by client_%d",
				  i, i / 2, 700 + i);
		submitted[i] =
			lines_add(&l, ms + 3000, "handler 2",
				  "closed /staging/job_17_%04d/jar by client_%d", i + 1, 700 + i);
		lines_add(&l, ms + 9000, "handler 3",
			  "opened /user/u%d/tmp_3_%d/out/attempt_17_%04d_m_000001", i, i / 2,
			  i + 1);
	}
	lines_file(&l, "rm.log", "rm.log");
	for (int i = 0; i < APPS; i++)
		lines_add(&l, i * 20000 + 5000, "main", "start container_17_%04d_01_000001", i + 1);
	steps_begin(&s, &l);
	for (int i = 0; i < APPS; i++) {
		assert_int_not_equal(steps_unit(&s, prepared[i])->family, 0);
		assert_int_equal(steps_unit(&s, prepared[i])->family,
				 steps_unit(&s, submitted[i])->family);
	}
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_writes_blocks_is_no_object),
		cmocka_unit_test(what_names_nothing_is_about_what_its_work_is_about),
		cmocka_unit_test(what_a_client_prepares_for_an_application_is_of_it),
	};

	return RUN(tests);
}
