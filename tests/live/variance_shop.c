/* A shop whose orders are slow now and then, for as many seconds as the first argument says: a
 * target that tests/live/variance-bad.bats watches, kills and stops. It takes some orders, however
 * little time the machine has for it, unless it is to take none. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WATCHED __attribute__((noinline, noclone))
#define ORDERS_LEAST 300

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void burn(int64_t ns)
{
	int64_t until = now_ns() + ns;

	while (now_ns() < until)
		;
}

WATCHED void take_order(int number)
{
	burn(50000 + number % 7 * 1000);
	__asm__ volatile("");
}

WATCHED void pack_order(int number)
{
	burn(number % 5 ? 20000 : 900000);
	__asm__ volatile("");
}

WATCHED void process_order(int number)
{
	take_order(number);
	pack_order(number);
	__asm__ volatile("");
}

WATCHED void close_shop(int number)
{
	printf("orders %d\n", number);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 5;
	int64_t until = now_ns() + (int64_t)(1e9 * seconds);
	int number = 0;

	while (now_ns() < until || (seconds > 0 && number < ORDERS_LEAST)) {
		process_order(number++);
		nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
	}
	close_shop(number);
	return 0;
}
