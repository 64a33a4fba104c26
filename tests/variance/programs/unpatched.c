/* One thread. price() and count() jump into their first bytes, so that they cannot be patched;
 * price() varies, and count() is called all the time. */
#include "truth.h"

enum { PARSE, PRICE };
static const char *const names[] = { "/parse", "/price" };
static uint32_t seed = 29;
static double loops_per_ns;

void price(long loops);
void count(long loops);

__asm__(".text\n"
	".globl price\n"
	".type price, @function\n"
	"price:\n"
	"	nop\n"
	"1:	pause\n"
	"	dec %rdi\n"
	"	jne 1b\n"
	"	nopl 0(%rax,%rax)\n"
	"	nopl 0(%rax,%rax)\n"
	"	ret\n"
	".size price, .-price\n"
	".globl count\n"
	".type count, @function\n"
	"count:\n"
	"	nop\n"
	"1:	dec %rdi\n"
	"	jne 1b\n"
	"	nopl 0(%rax,%rax)\n"
	"	nopl 0(%rax,%rax)\n"
	"	ret\n"
	".size count, .-count\n"
	".section .note.GNU-stack,\"\",@progbits\n"
	".text\n");

PROBED static void parse(struct truth_row *t)
{
	int64_t at = now_ns();

	for (int i = 0; i < 1000; i++)
		count(3);
	rest(roll_between(&seed, 2000000, 8000000));
	t->ns[PARSE] = now_ns() - at;
}

PROBED static void process_order(struct truth_row *t)
{
	int64_t at = truth_enter(t), before;

	parse(t);
	before = now_ns();
	price((long)((double)(roll(&seed) % 4 ? 500000 : 9000000) * loops_per_ns));
	t->ns[PRICE] = now_ns() - before;
	t->total = now_ns() - at;
}

int main(int argc, char **argv)
{
	int64_t until = run_until(argc, argv), at = now_ns();

	price(200000);
	loops_per_ns = 200000 / (double)(now_ns() - at);
	truth_begin();
	while (goes_on(until))
		process_order(truth_row());
	truth_write(names, 2);
	return 0;
}
