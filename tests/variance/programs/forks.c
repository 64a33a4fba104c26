/* Four processes, made one after the other as PostgreSQL makes its own; each works on orders. */
#include <sys/wait.h>

#include "truth.h"

enum { PARSE, SCAN };
static const char *const names[] = { "/parse", "/scan" };

PROBED static void parse(struct truth_row *t, uint32_t *seed)
{
	int64_t at = now_ns();

	rest(roll_between(seed, 100000, 300000));
	t->ns[PARSE] = now_ns() - at;
}

PROBED static void scan(struct truth_row *t, uint32_t *seed)
{
	int64_t at = now_ns();

	rest(roll(seed) % 8 ? 300000 : 2500000);
	t->ns[SCAN] = now_ns() - at;
}

PROBED static void process_order(struct truth_row *t, uint32_t *seed)
{
	int64_t at = truth_enter(t);

	parse(t, seed);
	scan(t, seed);
	t->total = now_ns() - at;
}

int main(int argc, char **argv)
{
	int64_t until = run_until(argc, argv);

	truth_begin();
	rest(300000000); /* whoever looks from outside sees children born later */
	for (uint32_t i = 1; i <= 4; i++) {
		uint32_t seed = i * 7919;

		if (fork())
			continue;
		while (goes_on(until))
			process_order(truth_row(), &seed);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	truth_write(names, 2);
	return 0;
}
