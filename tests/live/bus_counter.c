/* Calls a function from SIGUSR1 on, until SIGTERM; then it prints how often, and the sum of what it
 * was called with. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define AT_ONCE 20

static volatile sig_atomic_t is_on, is_off;

static void begin(int signal)
{
	(void)signal;
	is_on = 1;
}

static void end(int signal)
{
	(void)signal;
	is_off = 1;
}

long counter_work(long n);

__attribute__((noinline)) long counter_work(long n)
{
	volatile long sum = n;

	for (int i = 0; i < AT_ONCE; i++)
		sum += n * i;
	return sum;
}

int main(void)
{
	long sum = 0, nr = 0;

	signal(SIGUSR1, begin);
	signal(SIGTERM, end);
	while (!is_on)
		usleep(1000);
	while (!is_off) {
		for (int i = 0; i < AT_ONCE; i++, nr++) {
			counter_work(nr % 100);
			sum += nr % 100;
		}
		usleep(1000);
	}
	printf("%ld %ld\n", nr, sum);
	fflush(stdout);
	sleep(600); /* what was counted is still to be told */
	return 0;
}
