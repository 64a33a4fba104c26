/*
 * A program that test_probe watches, and that checks its own results all the time: exceptions,
 * longjmp, tail calls, all kinds of arguments and results, threads, children, signals.
 * usage: probe_sample SECONDS THREADS FORKS (0: none, 1: now and then); ends before on SIGTERM.
 */
#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define WATCHED extern "C" __attribute__((noinline, noclone))
#define CHECK(x) \
	do { \
		if (!(x)) { \
			fprintf(stderr, "probe_sample: wrong: %s\n", #x); \
			abort(); \
		} \
	} while (0)

static volatile long sink;
static thread_local jmp_buf back;

struct inner {
	int kind;
	int number;
};

struct order {
	long id;
	struct inner *inner;
};

struct big {
	long v[8];
};

struct two {
	double a, b;
};

struct mixed {
	long a;
	double b;
};

WATCHED long leaf(long a)
{
	sink = sink + a;
	return a * 3;
}

WATCHED long thrower(long n)
{
	if (n == 0)
		throw std::runtime_error("deep");
	return thrower(n - 1) + leaf(n);
}

struct guard {
	long *p;
	~guard()
	{
		*p += leaf(1);
	}
};

WATCHED long cleaner(long n, long *p)
{
	guard g{ p };

	return thrower(n) + leaf(2);
}

WATCHED long catcher(long n)
{
	long p = 0;

	try {
		return cleaner(n, &p);
	} catch (const std::runtime_error &e) {
		CHECK(p == 3);
		return leaf(n) + (e.what()[0] == 'd');
	}
}

WATCHED long rethrower(long n)
{
	try {
		catcher(1);
		thrower(n);
	} catch (...) {
		try {
			throw;
		} catch (std::exception &e) {
			return leaf(7);
		}
	}
	return 0;
}

WATCHED long jumper(long n)
{
	long more = leaf(n);

	if (n == 0)
		longjmp(back, 42);
	if (more >= 0)
		more = jumper(n - 1);
	return more + 1;
}

WATCHED long jumped(long n)
{
	int v = setjmp(back);

	if (v == 0) {
		jumper(n);
		return -1;
	}
	return v + leaf(1);
}

WATCHED long tail_end(long a, long b)
{
	sink = sink + 1;
	return a * b;
}

WATCHED long tail_start(long a, long b)
{
	sink = sink + 1;
	return tail_end(a + 1, b);
}

WATCHED double various(int n, ...)
{
	double sum = 0;
	va_list a;

	va_start(a, n);
	for (int i = 0; i < n; i++)
		sum += va_arg(a, double);
	va_end(a);
	return sum;
}

WATCHED big in_memory(long a)
{
	big b;

	for (int i = 0; i < 8; i++)
		b.v[i] = a + i;
	return b;
}

WATCHED two in_two(double a, double b)
{
	return two{ a + b, a - b };
}

WATCHED mixed in_both(long a, double b)
{
	return mixed{ a * 2, b * 2 };
}

WATCHED long double in_x87(long double x)
{
	return x * 1.5L;
}

WATCHED __int128 in_pair(__int128 a)
{
	return a * a;
}

WATCHED long recursive(long m, long n)
{
	if (m == 0)
		return n + 1;
	if (n == 0)
		return recursive(m - 1, 1);
	return recursive(m - 1, recursive(m, n - 1));
}

WATCHED long on_stack(long a, long b, long c, long d, long e, long f, long g, long h)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

WATCHED float in_xmm(float a, float b, float c, float d, float e, float f, float g, float h)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

WATCHED long take_order(struct order *o, long extra)
{
	sink = sink + extra;
	return o->id + 1000;
}

WATCHED long in_handler(long a)
{
	__asm__ volatile("nop"); /* one that begins with a call is refused */
	return leaf(a) + 1;
}

WATCHED void *leaves_thread(void *)
{
	leaf(1);
	pthread_exit((void *)5);
}

WATCHED long whole_round(long i)
{
	inner in = { 1, 77 };
	order o = { i, &in };
	big b = in_memory(i);
	two t = in_two(3, 1);
	mixed m = in_both(i, 1.5);

	CHECK(leaf(i) == 3 * i);
	CHECK(catcher(i % 20) == 3 * (i % 20) + 1);
	CHECK(rethrower(i % 5) == 21);
	CHECK(jumped(i % 30) == 45);
	CHECK(tail_start(i, 3) == 3 * (i + 1));
	CHECK(various(5, 1.0, 2.0, 3.0, 4.0, 5.0) == 15.0);
	for (int k = 0; k < 8; k++)
		CHECK(b.v[k] == i + k);
	CHECK(t.a == 4 && t.b == 2);
	CHECK(m.a == 2 * i && m.b == 3.0);
	CHECK(in_x87(2.0L) == 3.0L);
	CHECK(in_pair((__int128)1 << 40) == (__int128)1 << 80);
	CHECK(on_stack(1, 2, 3, 4, 5, 6, 7, 8) == 204);
	CHECK(in_xmm(1, 2, 3, 4, 5, 6, 7, 8) == 204.0f);
	CHECK(recursive(2, 3) == 9);
	CHECK(take_order(&o, 1) == i + 1000);
	return i;
}

static void on_alarm(int)
{
	CHECK(in_handler(2) == 7);
}

static volatile sig_atomic_t is_over;

static void on_end(int)
{
	is_over = 1;
}

static void child_and_thread()
{
	pid_t child = fork();
	pthread_t thread;
	void *result;
	int status;

	if (child == 0) {
		for (int i = 0; i < 100; i++)
			whole_round(i);
		_exit(7);
	}
	while (waitpid(child, &status, 0) < 0)
		;
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	pthread_create(&thread, NULL, leaves_thread, NULL);
	pthread_join(thread, &result);
	CHECK(result == (void *)5);
}

static double now()
{
	timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double until = now() + (argc > 1 ? atof(argv[1]) : 5);
	int nr_threads = argc > 2 ? atoi(argv[2]) : 2;
	bool forks = argc > 3 && atoi(argv[3]);
	struct sigaction action = {};
	itimerval each = { { 0, 700 }, { 0, 700 } };
	std::vector<std::thread> threads;

	action.sa_handler = on_alarm;
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
	action.sa_handler = on_end;
	sigaction(SIGTERM, &action, NULL);
	setitimer(ITIMER_REAL, &each, NULL);
	for (int k = 0; k < nr_threads; k++)
		threads.emplace_back([=] {
			for (long i = 0; !is_over && now() < until; i++) {
				whole_round(i);
				usleep(nr_threads > 8 ? 5000 : 200);
			}
		});
	for (long i = 0; !is_over && now() < until; i++) {
		whole_round(i);
		usleep(200);
		if (forks && i % 50 == 49)
			child_and_thread();
	}
	for (auto &t : threads)
		t.join();
	return 0;
}
