/* Leaves calls by longjmp, also from a signal's handler. */
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include "guest.h"

static jmp_buf out;
static sigjmp_buf out_of_handler;
static volatile sig_atomic_t is_armed;

static void on_alarm(int number)
{
	(void)number;
	if (!is_armed)
		return;
	is_armed = 0;
	siglongjmp(out_of_handler, 1);
}

WATCHED static int step(int n, int depth)
{
	int r = n;

	if (depth)
		r = step(n, depth - 1) + 1;
	else if (n % 3 == 0)
		longjmp(out, n % 1000 + 1);
	__asm__ volatile("");
	return r;
}

WATCHED static int spin(void)
{
	volatile int n = 0;

	while (is_armed)
		n++;
	return n;
}

WATCHED static int process_order(int n)
{
	volatile int r = setjmp(out);

	r = r ? -r : step(n, 6) - 6;
	if (n % 50 == 0) {
		is_armed = 1;
		if (!sigsetjmp(out_of_handler, 1))
			while (is_armed)
				spin();
	}
	__asm__ volatile("");
	return r;
}

int main(int argc, char **argv)
{
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
	int64_t until = until_of(argc, argv);

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int n = 0; now_ns() < until; n++)
		if (process_order(n) != (n % 3 ? n : -(n % 1000 + 1)))
			wrong("order");
	puts("right");
	return 0;
}
