/* C++: a price that fails is thrown through three functions and asked for again. */
#include <stdexcept>
#include <string>

#include "truth.h"

enum { PARSE, PRICE };
static const char *const names[] = { "/parse", "/price" };
static uint32_t seed = 31;

struct late {
	std::string what;
};

PROBED static void ask(int depth)
{
	if (depth)
		ask(depth - 1);
	else if (!(roll(&seed) % 4))
		throw late{ "no price yet" };
	__asm__ volatile("");
}

PROBED static void parse(struct truth_row *t)
{
	int64_t at = now_ns();

	burn(roll_between(&seed, 50000, 150000));
	t->ns[PARSE] = now_ns() - at;
}

PROBED static void price(struct truth_row *t)
{
	int64_t at = now_ns();

	for (;;) {
		try {
			burn(100000);
			ask(3);
			break;
		} catch (const late &l) {
			if (l.what.size() != 12)
				abort();
			burn(400000);
		}
	}
	t->ns[PRICE] = now_ns() - at;
}

PROBED static void process_order(struct truth_row *t)
{
	int64_t at = truth_enter(t);

	parse(t);
	price(t);
	t->total = now_ns() - at;
}

int main(int argc, char **argv)
{
	int64_t until = run_until(argc, argv);

	truth_begin();
	while (goes_on(until))
		process_order(truth_row());
	truth_write(names, 2);
	return 0;
}
