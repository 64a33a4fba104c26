/* One thread. sort_rows() takes as long as it has rows, its second argument; wander() has an
 * argument as well, which its time does not go with; scan() returns how much it read. */
#include "truth.h"

enum { SORT, WANDER, SCAN };
static const char *const names[] = { "/sort_rows", "/wander", "/scan" };
static uint32_t seed = 41;

PROBED static void sort_rows(struct truth_row *t, long rows)
{
	int64_t at = now_ns();

	burn(20000 * rows);
	t->ns[SORT] = now_ns() - at;
}

PROBED static void wander(struct truth_row *t, long rows)
{
	int64_t at = now_ns();

	rest(rows * 0 + roll_between(&seed, 1000000, 15000000));
	t->ns[WANDER] = now_ns() - at;
}

PROBED static long scan(struct truth_row *t)
{
	int64_t at = now_ns();
	long read = roll_between(&seed, 10, 400);

	burn(20000 * read);
	t->ns[SCAN] = now_ns() - at;
	return read;
}

PROBED static void process_order(struct truth_row *t)
{
	int64_t at = truth_enter(t);

	sort_rows(t, roll_between(&seed, 10, 500));
	wander(t, roll_between(&seed, 10, 500));
	__asm__ volatile("" ::"r"(scan(t)));
	t->total = now_ns() - at;
}

int main(int argc, char **argv)
{
	int64_t until = run_until(argc, argv);

	truth_begin();
	while (goes_on(until))
		process_order(truth_row());
	truth_write(names, 3);
	return 0;
}
