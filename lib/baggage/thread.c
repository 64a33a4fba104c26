/* The baggage of a thread, of its children, and names that nobody else gives. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "lib/baggage/state.h"

__thread struct culprit_baggage *culprit_baggage_mine;

/* What a library keeps for its process: when a thread ends, when the process forks. */
static pthread_key_t at_end;
static pthread_once_t key_once = PTHREAD_ONCE_INIT, fork_once = PTHREAD_ONCE_INIT;
static pthread_once_t copy_once = PTHREAD_ONCE_INIT;
static _Atomic unsigned nr_forks; /* that made this process */
static bool has_key;
static int fork_failed;
static _Thread_local bool is_watched;
static _Thread_local struct culprit_baggage *for_child;

static void end_thread(void *unused)
{
	(void)unused;
	culprit_baggage_free(culprit_baggage_mine);
	culprit_baggage_mine = NULL;
	is_watched = false;
}

static void make_key(void)
{
	has_key = !pthread_key_create(&at_end, end_thread);
}

static void watch_thread(void)
{
	pthread_once(&key_once, make_key);
	if (has_key)
		pthread_setspecific(at_end, &culprit_baggage_mine);
	is_watched = true;
}

struct culprit_baggage *culprit_baggage_swap(struct culprit_baggage *b)
{
	struct culprit_baggage *old = culprit_baggage_mine;

	if (b && !is_watched)
		watch_thread();
	culprit_baggage_mine = b;
	return old;
}

int culprit_baggage_pack_mine(const struct culprit_query *q, const void *tuple, size_t n,
			      const struct culprit_number *numbers)
{
	if (!is_watched)
		watch_thread();
	return culprit_baggage_pack(&culprit_baggage_mine, q, tuple, n, numbers);
}

static void before_fork(void)
{
	(void)culprit_baggage_split(culprit_baggage_mine, &for_child);
}

static void in_parent(void)
{
	culprit_baggage_free(for_child);
	for_child = NULL;
}

static void in_child(void)
{
	culprit_baggage_free(culprit_baggage_mine);
	culprit_baggage_mine = for_child;
	for_child = NULL;
}

static void watch_forks(void)
{
	fork_failed = pthread_atfork(before_fork, in_parent, in_child);
}

int culprit_baggage_follow_forks(void)
{
	pthread_once(&fork_once, watch_forks);
	return -fork_failed;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* A child of fork() has the random numbers of its parent, and must not go on with them. */
static void in_copy(void)
{
	atomic_fetch_add(&nr_forks, 1);
}

static void watch_copies(void)
{
	(void)pthread_atfork(NULL, NULL, in_copy);
}

/* The time is for a child that was made without telling anybody. */
uint64_t random_name(void)
{
	static _Thread_local uint64_t seed, nr;
	static _Thread_local unsigned forks;
	struct timespec now;

	if (!nr || forks != atomic_load(&nr_forks)) {
		pthread_once(&copy_once, watch_copies);
		forks = atomic_load(&nr_forks);
		if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
			seed = (uint64_t)(uintptr_t)&seed ^ (uint64_t)getpid() << 32;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	nr++;
	return mix(seed + mix(nr)) ^
	       mix((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
}
