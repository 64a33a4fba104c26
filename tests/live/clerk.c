/*
 * A program that tests/live/query-outside.bats asks questions: requests of several clients on
 * threads of a pool, which write to files and put them on the disk, also in threads that they make
 * and in children. It counts what it does for whom, and says so in the end.
 * usage: clerk FOLDER THREADS REQUESTS. Until SIGUSR1 it serves one client only, "warm", which is
 * not counted, so that who asks sees when it is heard.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define WATCHED __attribute__((noinline, noclone))
#define CLIENTS 4

/* Of all processes. */
struct truth {
	long nr_writes[CLIENTS], bytes[CLIENTS], nr_syncs[CLIENTS], nr_hops[CLIENTS],
		product[CLIENTS];
};

static const char *const clients[CLIENTS] = { "Ann", "Bob", "Cid", "Dot" };
static const char *folder;
static struct truth *truth;
static volatile sig_atomic_t is_on;
static volatile long sink;
static long nr_requests;

long clerk_begin(const char *client, long number);
/* a * b, by adding; b is at least 1 */
long clerk_hop(long a, long b);

/* A branch goes into its first bytes: it cannot be patched. */
__asm__(".text\n"
	".p2align 4\n"
	".globl clerk_hop\n"
	".type clerk_hop, @function\n"
	"clerk_hop:\n"
	"	.cfi_startproc\n"
	"	xor %eax, %eax\n"
	"1:	add %rdi, %rax\n"
	"	dec %rsi\n"
	"	jnz 1b\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size clerk_hop, . - clerk_hop\n");

WATCHED long clerk_begin(const char *client, long number)
{
	sink = sink + number;
	return client[0] + number;
}

static void add(long *to, long n)
{
	__atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}

struct work {
	int client, fd;
	unsigned seed;
};

static void work(struct work *w)
{
	static const char bytes[512];
	long nr_writes = rand_r(&w->seed) % 4, nr_syncs = rand_r(&w->seed) % 3;

	for (long i = 0; i < nr_writes; i++) {
		long n = write(w->fd, bytes, (size_t)(rand_r(&w->seed) % 512));
		long a = rand_r(&w->seed) % 9, b = 1 + rand_r(&w->seed) % 9;

		if (n < 0 || clerk_hop(a, b) != a * b)
			abort();
		add(&truth->nr_writes[w->client], 1);
		add(&truth->bytes[w->client], n);
		add(&truth->nr_hops[w->client], 1);
		add(&truth->product[w->client], a * b);
	}
	for (long i = 0; i < nr_syncs; i++) {
		if (fsync(w->fd) < 0)
			abort();
		add(&truth->nr_syncs[w->client], 1);
	}
}

static void *worker(void *p)
{
	work(p);
	return p;
}

static void request(struct work *w, long number)
{
	pthread_t t;
	pid_t pid;

	w->client = (int)(rand_r(&w->seed) % CLIENTS);
	clerk_begin(clients[w->client], number);
	work(w);
	if (number % 16 == 0 && pthread_create(&t, NULL, worker, w) == 0)
		pthread_join(t, NULL);
	if (number % 64 == 0 && (pid = fork()) >= 0) {
		if (pid == 0) {
			work(w);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static int file_of(long number)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/of.%ld", folder, number);
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0600);
	if (fd < 0)
		abort();
	return fd;
}

static void *pooled(void *p)
{
	long number = (long)(size_t)p;
	struct work w = { .fd = file_of(number), .seed = (unsigned)number + 1 };

	for (long i = 0; i < nr_requests; i++)
		request(&w, i);
	close(w.fd);
	return NULL;
}

static void on_signal(int nr)
{
	(void)nr;
	is_on = 1;
}

static void warm_up(void)
{
	int fd = file_of(-1);

	while (!is_on) {
		clerk_begin("warm", 0);
		if (write(fd, "w", 1) != 1 || fsync(fd) < 0 || clerk_hop(1, 1) != 1)
			abort();
		usleep(20000);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	long nr_threads = argc > 2 ? atol(argv[2]) : 2;
	pthread_t threads[64];

	folder = argc > 1 ? argv[1] : ".";
	nr_requests = argc > 3 ? atol(argv[3]) : 100;
	truth = mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	signal(SIGUSR1, on_signal);
	warm_up();
	for (long i = 0; i < nr_threads && i < 64; i++)
		pthread_create(&threads[i], NULL, pooled, (void *)(size_t)i);
	for (long i = 0; i < nr_threads && i < 64; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < CLIENTS; i++)
		printf("%s %ld %ld %ld %ld %ld\n", clients[i], truth->nr_writes[i], truth->bytes[i],
		       truth->nr_syncs[i], truth->nr_hops[i], truth->product[i]);
	return 0;
}
