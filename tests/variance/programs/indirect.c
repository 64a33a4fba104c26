/* One thread that fetches by pointers. One order in ten is fetched from far away, which is a
 * wait below a function that no disassembly leads to. */
#include "truth.h"

enum { NEAR, FAR, PRICE };
static const char *const names[] = { "/fetch_near", "/fetch_far", "/price" };
static uint32_t seed = 29;

PROBED static void fetch_near(struct truth_row *t)
{
	int64_t at = now_ns();

	burn(100000);
	t->ns[NEAR] = now_ns() - at;
}

PROBED static void fetch_far(struct truth_row *t)
{
	int64_t at = now_ns();

	rest(roll_between(&seed, 2000000, 3000000));
	t->ns[FAR] = now_ns() - at;
}

PROBED static void price(struct truth_row *t)
{
	int64_t at = now_ns();

	burn(roll_between(&seed, 100000, 800000));
	t->ns[PRICE] = now_ns() - at;
}

static void (*volatile fetch[])(struct truth_row *) = { fetch_near, fetch_far };

PROBED static void process_order(struct truth_row *t)
{
	int64_t at = now_ns();

	fetch[roll(&seed) % 10 ? NEAR : FAR](t);
	price(t);
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
