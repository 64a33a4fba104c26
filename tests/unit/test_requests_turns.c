/* Requests that take turns at an object: a table with its regions and files. */
#include "unit.h"

#include <stdlib.h>

#include "request_lines.h"

enum { TABLES = 6, TURNS = 6, PARTS = 5 };

static struct lines l;
/* The lines of each request, and a line that is written meanwhile and about nothing. */
static uint64_t line[TABLES][TURNS][PARTS], tick[TABLES][TURNS], read_again[TABLES];

/* Lines are written down in the order of their times. */
static struct planned {
	int64_t ms;
	int nr;
	bool is_server;
	char thread[32], text[160];
	uint64_t *to;
} plan[TABLES * TURNS * 16];
static int nr_planned;
/* What the tables are called; a state of a region, which is no name. */
static const char *const numbered[TABLES] = { "ordersA0", "ordersA1", "ordersA2",
					      "ordersA3", "ordersA4", "ordersA5" };
static const char *const worded[TABLES] = { "orders_east", "users",   "web-items",
					    "shop.carts",  "returns", "CLICKS" };
static const char *const *tables = numbered;
static const char *const states[] = { "OPENING", "OPEN", "SPLITTING", "CLOSING", "CLOSED" };

__attribute__((format(printf, 5, 6))) static void add(bool is_server, int64_t ms, uint64_t *to,
						      const char *thread, const char *format, ...)
{
	struct planned *p = &plan[nr_planned];
	va_list args;

	*p = (struct planned){ .ms = ms, .nr = nr_planned++, .is_server = is_server, .to = to };
	snprintf(p->thread, sizeof(p->thread), "%s", thread);
	va_start(args, format);
	vsnprintf(p->text, sizeof(p->text), format, args);
	va_end(args);
}

static int by_time(const void *a, const void *b)
{
	const struct planned *x = a, *y = b;

	if (x->is_server != y->is_server)
		return x->is_server ? 1 : -1;
	return x->ms != y->ms ? (x->ms < y->ms ? -1 : 1) : x->nr - y->nr;
}

/* Clients of six tables, each of which asks, waits for the answer and thinks for a second or two.
 */
static int64_t start(int table, int turn)
{
	return 1000 + turn * 2500 + (table * 367 + turn * 531) % 900;
}

/* Every fourth request has to wait until the worker has time for it. */
static int64_t wait(int table, int turn)
{
	return (table + turn) % 4 == 0 ? 600 : 3;
}

static void plan_request(int table, int turn)
{
	static const char *const verbs[] = { "flush", "split", "disable" };
	int64_t at = start(table, turn), busy = at + wait(table, turn);
	int region = 7919 * (table + 1), block = 1000 + table * TURNS + turn;
	uint64_t *to = line[table][turn];

	add(false, at, &to[0], (table + turn) % 2 ? "handler 1" : "handler 2",
	    "client asks to %s %s", verbs[(table + 2 * turn) % 3], tables[table]);
	add(false, busy, &to[1], "worker", "working on %s", tables[table]);
	add(false, busy + 1, &tick[table][turn], "worker", "looked at the queue");
	add(true, busy + 10, &to[2], "opener", "region ab%030d of %s", region, tables[table]);
	add(true, busy + 11, &to[3], "opener", "writes ab%030d to blk_%d", region, block);
	for (int i = 0; i < 5; i++)
		add(true, busy + 12, NULL, "packets", "packet %d of blk_%d", i, block);
	add(true, busy + 13, NULL, "opener", "wrote ab%030d to blk_%d", region, block);
	add(true, busy + 13, &to[4], "closer", "done with ab%030d, %s now", region,
	    states[(table + turn) % 5]);
	/* the block of the first turn is read in the third */
	if (turn == 2)
		add(true, busy + 14, &read_again[table], "reader", "sends blk_%d", block - turn);
}

static void run(void)
{
	nr_planned = 0;
	for (int turn = 0; turn < TURNS; turn++)
		for (int table = 0; table < TABLES; table++)
			plan_request(table, turn);
	qsort(plan, (size_t)nr_planned, sizeof(*plan), by_time);
	lines_begin(&l);
	lines_file(&l, "master.log", "master.log");
	for (int i = 0; i < nr_planned; i++) {
		uint64_t nr;

		if (i && plan[i].is_server && !plan[i - 1].is_server)
			lines_file(&l, "server.log", "server.log");
		nr = lines_str(&l, plan[i].ms, plan[i].thread, str_of(plan[i].text));
		if (plan[i].to)
			*plan[i].to = nr;
	}
	lines_run(&l);
}

static void the_time_line_of_an_object_is_cut_into_requests(void **state)
{
	(void)state;
	run();
	for (int table = 0; table < TABLES; table++)
		for (int turn = 0; turn < TURNS; turn++) {
			uint64_t request = l.requests[line[table][turn][0]];

			assert_int_not_equal(request, 0);
			for (int i = 1; i < PARTS; i++)
				assert_int_equal(l.requests[line[table][turn][i]], request);
			if (turn)
				assert_int_not_equal(l.requests[line[table][turn - 1][0]], request);
			if (table)
				assert_int_not_equal(l.requests[line[table - 1][turn][0]], request);
		}
	lines_end(&l);
}

static void what_a_request_made_stays_with_it(void **state)
{
	(void)state;
	run();
	for (int table = 0; table < TABLES; table++)
		assert_int_equal(l.requests[read_again[table]], l.requests[line[table][0][0]]);
	lines_end(&l);
}

static void what_is_about_nothing_beside_work_for_many_is_of_none(void **state)
{
	(void)state;
	run();
	for (int table = 0; table < TABLES; table++)
		for (int turn = 0; turn < TURNS; turn++)
			assert_int_not_equal(l.requests[tick[table][turn]],
					     l.requests[line[table][turn][1]]);
	lines_end(&l);
}

static void words_are_names_where_things_belong_to_them(void **state)
{
	tables = worded;
	the_time_line_of_an_object_is_cut_into_requests(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_time_line_of_an_object_is_cut_into_requests),
		cmocka_unit_test(what_a_request_made_stays_with_it),
		cmocka_unit_test(what_is_about_nothing_beside_work_for_many_is_of_none),
		cmocka_unit_test(words_are_names_where_things_belong_to_them),
	};

	return RUN(tests);
}
