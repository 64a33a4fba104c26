/* One thread. price() has two speeds; parse() and store_order() vary little. */
#include "truth.h"

enum { PARSE, PRICE, STORE };
static const char *const names[] = { "/parse", "/price", "/store_order" };
static uint32_t seed = 17;

PROBED static void parse(struct truth_row *t)
{
	int64_t at = now_ns();

	burn(roll_between(&seed, 50000, 90000));
	t->ns[PARSE] = now_ns() - at;
}

PROBED static void price(struct truth_row *t)
{
	int64_t at = now_ns();

	burn(roll(&seed) % 5 ? 200000 : 900000);
	t->ns[PRICE] = now_ns() - at;
}

PROBED static void store_order(struct truth_row *t)
{
	int64_t at = now_ns();

	rest(roll_between(&seed, 100000, 500000));
	t->ns[STORE] = now_ns() - at;
}

PROBED static void process_order(struct truth_row *t)
{
	int64_t at = truth_enter(t);

	parse(t);
	price(t);
	store_order(t);
	burn(roll_between(&seed, 10000, 20000));
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
