/*
 * A program that test_weave asks questions: requests on threads of a pool, each with work of its
 * own, in threads that it makes and in children. It counts what it does, and says so in the end.
 * usage: weave_sample THREADS REQUESTS [forever|apart]; waits for SIGUSR1 before it begins.
 * forever: it goes on until SIGUSR2; apart: no thread that is made has the stack of one before.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define WATCHED __attribute__((noinline, noclone))
#define CLIENTS 5
#define STACK_BYTES ((size_t)64 << 10)
#define STACKS 4096

struct table {
	long reserved;
	const char *name;
	int rows;
};

/* Of all processes. */
struct truth {
	long nr_reads[CLIENTS], bytes[CLIENTS], nr_apart[CLIENTS], nr_begins, nr_tables[3],
		nr_written;
};

static const char *const clients[CLIENTS] = { "Hget", "Hscan", "FSread4m", "MRsort10g", "x" };
static struct table tables[3] = { { 1, "orders", 10 },
				  { 2, "customers", -20 },
				  { 3, "a name that is longer than what is kept of a text, really",
				    30 } };
static struct truth *truth;
static volatile long sink;
static volatile sig_atomic_t is_on;
static long nr_requests;
static char *stacks; /* or NULL */
static size_t nr_stacks;

long shop_begin(const char *client, long number);
long shop_read(const struct table *t, long bytes);
long shop_write(long a, long b, long c, long d, long e, long f);

WATCHED long shop_begin(const char *client, long number)
{
	sink = sink + number;
	return client[0] + number;
}

WATCHED long shop_read(const struct table *t, long bytes)
{
	sink = sink + bytes;
	return bytes * 2 + t->rows;
}

WATCHED long shop_write(long a, long b, long c, long d, long e, long f)
{
	sink = sink + a + b + c + d + e + f;
	return -f;
}

static void add(long *to, long n)
{
	__atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}

static void reads(int client, long bytes)
{
	const struct table *t = &tables[bytes % 3];

	if (shop_read(t, bytes) != bytes * 2 + t->rows)
		abort();
	add(&truth->nr_reads[client], 1);
	add(&truth->bytes[client], bytes);
	add(&truth->nr_tables[t - tables], 1);
}

struct work {
	int client;
	long bytes;
};

static void *worker(void *p)
{
	const struct work *w = p;

	reads(w->client, w->bytes);
	return p;
}

static int worker_begin(pthread_t *t, struct work *w)
{
	pthread_attr_t how;
	size_t nr = stacks ? __atomic_fetch_add(&nr_stacks, 1, __ATOMIC_RELAXED) : STACKS;
	int r;

	pthread_attr_init(&how);
	if (nr < STACKS)
		pthread_attr_setstack(&how, stacks + nr * STACK_BYTES, STACK_BYTES);
	r = pthread_create(t, &how, worker, w);
	pthread_attr_destroy(&how);
	return r;
}

static void request(long number, unsigned *seed)
{
	struct work w = { .client = (int)(rand_r(seed) % CLIENTS), .bytes = rand_r(seed) % 1000 };
	pthread_t t;
	pid_t pid;

	add(&truth->nr_begins, 1);
	shop_begin(clients[w.client], number);
	reads(w.client, w.bytes);
	if (number % 16 == 0 && worker_begin(&t, &w) == 0) {
		void *got;

		if (pthread_join(t, &got) != 0 || got != &w)
			abort();
	}
	if (number % 512 == 0 && (pid = fork()) >= 0) {
		if (pid == 0) {
			reads(w.client, 7);
			add(&truth->nr_apart[w.client], 1);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	if (shop_write(1, 2, 3, 4, 5, number) != -number)
		abort();
	add(&truth->nr_written, 1);
}

static void *pooled(void *p)
{
	unsigned seed = (unsigned)(size_t)p + 1;

	for (long i = 0; i < nr_requests; i++)
		request(i, &seed);
	return NULL;
}

static void on_signal(int nr)
{
	is_on = nr == SIGUSR1 ? 1 : 2;
}

int main(int argc, char **argv)
{
	long nr_threads = argc > 1 ? atol(argv[1]) : 2;
	bool is_forever = argc > 3 && strcmp(argv[3], "forever") == 0;
	pthread_t threads[64];

	nr_requests = argc > 2 ? atol(argv[2]) : 1000;
	truth = mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (argc > 3 && !is_forever) {
		stacks = mmap(NULL, STACKS * STACK_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		stacks = stacks == MAP_FAILED ? NULL : stacks;
	}
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	printf("ready\n");
	fflush(stdout);
	while (!is_on)
		usleep(1000);
	do {
		for (long i = 0; i < nr_threads && i < 64; i++)
			pthread_create(&threads[i], NULL, pooled, (void *)(size_t)i);
		for (long i = 0; i < nr_threads && i < 64; i++)
			pthread_join(threads[i], NULL);
	} while (is_forever && is_on < 2);
	for (int i = 0; i < CLIENTS; i++)
		printf("%s %ld %ld %ld\n", clients[i], truth->nr_reads[i], truth->bytes[i],
		       truth->nr_apart[i]);
	printf("tables %ld %ld %ld\n", truth->nr_tables[0], truth->nr_tables[1],
	       truth->nr_tables[2]);
	printf("begins %ld\nwritten %ld\n", truth->nr_begins, truth->nr_written);
	fflush(stdout);
	/* who watches goes first */
	while (is_on == 1 && getchar() != EOF)
		;
	return 0;
}
