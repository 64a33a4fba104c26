/* The function that varies lies four levels below the interval: it has to be found round by round.
 */
#include "truth.h"

enum { DECODE, HEADERS, LOOKUP, COMPARE, FLUSH };
static const char *const names[] = { "/receive/decode", "/receive/headers", "/match/search/lookup",
				     "/match/search/compare", "/flush" };
static uint32_t seed = 41;

#define TIMED(part, what) \
	do { \
		int64_t at_ = now_ns(); \
		what; \
		t->ns[part] = now_ns() - at_; \
	} while (0)

PROBED static void decode(struct truth_row *t)
{
	TIMED(DECODE, burn(roll_between(&seed, 30000, 60000)));
}

PROBED static void headers(struct truth_row *t)
{
	TIMED(HEADERS, burn(roll_between(&seed, 20000, 40000)));
}

PROBED static void receive(struct truth_row *t)
{
	decode(t);
	headers(t);
	__asm__ volatile("");
}

PROBED static void lookup(struct truth_row *t)
{
	TIMED(LOOKUP, burn(roll(&seed) % 6 ? 60000 : 700000));
}

PROBED static void compare(struct truth_row *t)
{
	TIMED(COMPARE, burn(roll_between(&seed, 10000, 100000)));
}

PROBED static void search(struct truth_row *t)
{
	lookup(t);
	compare(t);
	__asm__ volatile("");
}

PROBED static void match(struct truth_row *t)
{
	search(t);
	__asm__ volatile("");
}

PROBED static void flush(struct truth_row *t)
{
	TIMED(FLUSH, rest(roll_between(&seed, 60000, 160000)));
}

PROBED static void process_order(struct truth_row *t)
{
	int64_t at = truth_enter(t);

	receive(t);
	match(t);
	flush(t);
	t->total = now_ns() - at;
}

int main(int argc, char **argv)
{
	int64_t until = run_until(argc, argv);

	truth_begin();
	while (goes_on(until))
		process_order(truth_row());
	truth_write(names, 5);
	return 0;
}
