/*
 * Waits in every way and prints how long, as its own clocks tell: "THREAD KIND NS" ("begin": for
 * the others), and "THREAD woken-by THREAD" where one thread wakes another.
 */

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 20

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t begin;
static int queued, ends[2];
static int64_t started; /* before the first thread */
static sem_t *shared;

static int64_t clock_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t now(void)
{
	return clock_of(CLOCK_MONOTONIC);
}

static void rest(long ms)
{
	struct timespec t = { 0, ms * 1000000 };

	nanosleep(&t, NULL);
}

static void tell(const char *kind, int64_t ns)
{
	printf("%ld %s %ld\n", syscall(SYS_gettid), kind, (long)ns);
}

/* How long it takes to be there (a thread that has not run yet waits for a processor, and so does
 * one that must go to another), and the others to come, is no wait that is asked for: told apart.
 */
static void begin_together(void)
{
	pthread_barrier_wait(&begin);
	tell("begin", now() - started);
}

/* Holds both locks 5 ms at a time. */
static void *hold(void *arg)
{
	(void)arg;
	begin_together();
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		pthread_rwlock_wrlock(&rwlock);
		rest(5);
		pthread_rwlock_unlock(&rwlock);
		rest(5);
		pthread_mutex_unlock(&lock);
		rest(1);
	}
	return NULL;
}

static void *want_lock(void *arg)
{
	int64_t ns = 0, from;

	(void)arg;
	begin_together();
	for (int i = 0; i < ROUNDS; i++) {
		from = now();
		pthread_mutex_lock(&lock);
		ns += now() - from;
		pthread_mutex_unlock(&lock);
		rest(1);
	}
	tell("lock", ns);
	return NULL;
}

static void *want_to_read(void *arg)
{
	int64_t ns = 0, from;

	(void)arg;
	begin_together();
	for (int i = 0; i < ROUNDS; i++) {
		from = now();
		pthread_rwlock_rdlock(&rwlock);
		ns += now() - from;
		pthread_rwlock_unlock(&rwlock);
		rest(1);
	}
	tell("lock", ns);
	return NULL;
}

static void *take(void *arg)
{
	int64_t ns = 0, from;

	(void)arg;
	begin_together();
	for (int i = 0; i < ROUNDS; i++) {
		from = now();
		pthread_mutex_lock(&queue_lock);
		while (!queued)
			pthread_cond_wait(&queue_filled, &queue_lock);
		queued--;
		pthread_mutex_unlock(&queue_lock);
		ns += now() - from;
	}
	tell("queue", ns);
	return NULL;
}

static void *take_by_pipe(void *arg)
{
	struct pollfd p = { ends[0], POLLIN, 0 };
	int64_t ns = 0, from;
	char byte;

	(void)arg;
	begin_together();
	for (int i = 0; i < ROUNDS; i++) {
		from = now();
		if (i % 2)
			poll(&p, 1, -1);
		if (read(ends[0], &byte, 1) != 1)
			return NULL;
		ns += now() - from;
	}
	tell("queue", ns);
	return NULL;
}

static void *put(void *arg)
{
	int64_t ns = 0, from;

	(void)arg;
	begin_together();
	for (int i = 0; i < ROUNDS; i++) {
		from = now();
		rest(4);
		ns += now() - from;
		pthread_mutex_lock(&queue_lock);
		queued++;
		pthread_cond_signal(&queue_filled);
		pthread_mutex_unlock(&queue_lock);
		if (write(ends[1], "x", 1) != 1)
			return NULL;
	}
	tell("sleep", ns);
	return NULL;
}

/* Two on one processor: each waits for it half of the time. */
static void *burn(void *arg)
{
	cpu_set_t one;
	int64_t from, cpu;

	(void)arg;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	begin_together();
	from = now();
	cpu = clock_of(CLOCK_THREAD_CPUTIME_ID);
	while (clock_of(CLOCK_THREAD_CPUTIME_ID) - cpu < 150000000)
		;
	tell("cpu", now() - from - (clock_of(CLOCK_THREAD_CPUTIME_ID) - cpu));
	return NULL;
}

/* A child that waits for a semaphore that processes share. */
static void wait_for_parent(void)
{
	int64_t ns = 0, from;

	for (int i = 0; i < ROUNDS; i++) {
		from = now();
		sem_wait(shared);
		ns += now() - from;
	}
	tell("lock", ns);
}

static void fork_model(void)
{
	pid_t child;

	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sem_init(shared, 1, 0);
	fflush(stdout);
	child = fork();
	if (!child) {
		wait_for_parent();
		exit(0);
	}
	for (int i = 0; i < ROUNDS; i++) {
		rest(4);
		sem_post(shared);
	}
	waitpid(child, NULL, 0);
}

int main(void)
{
	void *(*const work[])(void *) = { hold,         want_lock, want_to_read, take,
					  take_by_pipe, put,       burn,         burn };
	enum { NR = sizeof(work) / sizeof(*work) };
	pthread_t threads[NR];

	rest(300); /* so that somebody may come in between */
	if (pipe(ends))
		return 1;
	pthread_barrier_init(&begin, NULL, NR);
	started = now();
	for (int i = 0; i < NR; i++)
		pthread_create(&threads[i], NULL, work[i], NULL);
	for (int i = 0; i < NR; i++)
		pthread_join(threads[i], NULL);
	fork_model();
	return 0;
}
