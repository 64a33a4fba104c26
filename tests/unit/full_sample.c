/*
 * A program that test_full asks: each of its requests takes more things than a bag has room for,
 * itself and in threads that it makes.
 * usage: full_sample THINGS THREADS; does one request for each SIGUSR1, and says so, until SIGUSR2.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WATCHED __attribute__((noinline, noclone))
#define THREADS_MAX 64

static volatile long sink;
static volatile sig_atomic_t nr_wanted, is_over;

long full_begin(const char *client, long number);
long full_take(long key, long value);
long full_mark(long number);
long full_end(long number);

WATCHED long full_begin(const char *client, long number)
{
	sink = sink + client[0] + number;
	return number;
}

WATCHED long full_take(long key, long value)
{
	sink = sink + key;
	return value;
}

WATCHED long full_mark(long number)
{
	sink = sink - number;
	return number;
}

WATCHED long full_end(long number)
{
	sink = sink + 2 * number;
	return number;
}

struct part {
	long from, nr;
};

static void *take(void *p)
{
	const struct part *part = p;

	for (long i = part->from; i < part->from + part->nr; i++)
		full_take(i, i % 7);
	return p;
}

static void request(long number, long nr, long nr_threads)
{
	struct part parts[THREADS_MAX];
	pthread_t threads[THREADS_MAX];

	full_begin(number % 2 ? "odd" : "even", number);
	take(&(struct part){ 0, nr / 2 });
	for (long i = 0; i < nr_threads; i++) {
		parts[i] = (struct part){ nr / 2 + i * (nr - nr / 2) / nr_threads, 0 };
		parts[i].nr = nr / 2 + (i + 1) * (nr - nr / 2) / nr_threads - parts[i].from;
		if (pthread_create(&threads[i], NULL, take, &parts[i]) != 0)
			abort();
	}
	full_mark(number); /* before the threads are joined */
	for (long i = 0; i < nr_threads; i++)
		pthread_join(threads[i], NULL);
	full_end(number);
	full_mark(number);
	full_end(number);
}

static void on_signal(int nr)
{
	if (nr == SIGUSR1)
		nr_wanted = nr_wanted + 1;
	else
		is_over = 1;
}

int main(int argc, char **argv)
{
	long nr = argc > 1 ? atol(argv[1]) : 1000, nr_threads = argc > 2 ? atol(argv[2]) : 4;

	if (nr_threads < 1 || nr_threads > THREADS_MAX)
		return 2;
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	printf("ready\n");
	fflush(stdout);
	for (long i = 0; !is_over;) {
		if (i == nr_wanted) {
			usleep(1000);
			continue;
		}
		request(++i, nr, nr_threads);
		printf("done\n");
		fflush(stdout);
	}
	return 0;
}
