/*
 * The child hears of programs that begin, and has a thread for each that will have a machine:
 * several may begin at once, and each is to be reached before its machine is made.
 */
#include "capture/probe/cradle.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/time.h"
#include "base/vec.h"
#include "capture/probe/apart.h"
#include "capture/probe/births.h"
#include "capture/probe/cradle_child.h"
#include "capture/probe/guardian.h"
#include "capture/probe/tracee.h"

#define BEGINS_NS (NS_MS / 2) /* how often it is looked at before it is prepared */
#define HELD_NS (20 * NS_MS)
#define IDLE_MS 1000
#define NAP_MS 4
#define LATE_TRIES 100

/* Who looks after a machine: a thread, as who traces a process has to be one. */
struct nurse {
	struct cradle_child of;
	const struct cradle_shared *shared;
	pthread_t thread;
	bool is_over, has_ended;
};

struct nursery {
	int socket;
	struct cradle_shared *shared;
	struct births births;
	VEC(struct nurse *) v;
};

static bool is_wanted(const struct cradle_shared *s)
{
	return __atomic_load_n(&s->is_wanted, __ATOMIC_ACQUIRE);
}

static void *nurse_run(void *arg)
{
	struct tracee_late late = { 0 };
	struct nurse *n = arg;

	while (is_wanted(n->shared) && !__atomic_load_n(&n->is_over, __ATOMIC_ACQUIRE) &&
	       cradle_child_tend(&n->of, n->shared->ticks_per_ns, &late)) {
		tracee_late(&late);
		nanosleep(&(struct timespec){ .tv_nsec = n->of.f ? HELD_NS : BEGINS_NS }, NULL);
	}
	cradle_child_leave(&n->of, &late);
	for (int i = 0; late.tids.nr && i < LATE_TRIES; i++) {
		tracee_late(&late);
		nanosleep(&(struct timespec){ .tv_nsec = NS_MS }, NULL);
	}
	vec_done(&late.tids);
	__atomic_store_n(&n->has_ended, true, __ATOMIC_RELEASE);
	return NULL;
}

/* The program that was looked after is gone when the process has become another one. */
static void nurse_drop(struct nursery *n, int pid)
{
	vec_each (&n->v, v)
		if ((*v)->of.pid == pid)
			__atomic_store_n(&(*v)->is_over, true, __ATOMIC_RELEASE);
}

static void began(void *to, int pid)
{
	struct nursery *n = to;
	struct nurse *v;

	nurse_drop(n, pid);
	if (!is_wanted(n->shared))
		return;
	v = mem_zalloc(sizeof(*v));
	v->shared = n->shared;
	if (cradle_child_begin(&v->of, pid) && !pthread_create(&v->thread, NULL, nurse_run, v))
		vec_push(&n->v, v);
	else
		free(v);
}

/* Those that have ended, or all. */
static void nurses_join(struct nursery *n, bool are_all)
{
	for (size_t i = n->v.nr; i-- > 0;) {
		struct nurse *v = n->v.v[i];

		if (!are_all && !__atomic_load_n(&v->has_ended, __ATOMIC_ACQUIRE))
			continue;
		pthread_join(v->thread, NULL);
		free(v);
		n->v.v[i] = n->v.v[--n->v.nr];
	}
}

static int on_ask(struct nursery *n)
{
	int pid;

	if (guardian_receive(n->socket, &pid, sizeof(pid)) < 0)
		return -EPIPE;
	births_of(&n->births, pid);
	return 0;
}

/* Where others start programs all the time they are not listened to each time. */
static void listen_for(struct pollfd p[2], int nap)
{
	p[0].revents = p[1].revents = 0;
	if (!nap || poll(p, 1, nap) == 0)
		poll(p, 2, IDLE_MS);
}

/* Until who has started us is gone. */
static void nursery_run(struct nursery *n)
{
	struct pollfd p[2] = { { .fd = n->socket, .events = POLLIN },
			       { .fd = n->births.fd, .events = POLLIN } };
	int64_t swept = time_tick();
	int nap = 0;

	for (;;) {
		listen_for(p, nap);
		if (p[0].revents && on_ask(n) < 0)
			return;
		nap = births_read(&n->births, began, n) || !p[1].revents ? 0
		      : nap < NAP_MS                                     ? nap + 1
									 : NAP_MS;
		vec_clear(&n->births.made);
		nurses_join(n, false);
		if (time_tick() - swept < IDLE_MS * NS_MS)
			continue;
		births_sweep(&n->births);
		swept = time_tick();
	}
}

_Noreturn void cradle_run(int socket, struct cradle_shared *shared)
{
	struct nursery n = { .shared = shared };
	int32_t none = 0;

	apart("culprit-cradle", &socket, &none);
	/* a machine is made within tens of milliseconds, and processors may be busy for longer; of
	 * them this takes next to nothing */
	if (sched_setscheduler(0, SCHED_RR, &(struct sched_param){ .sched_priority = 1 }) < 0)
		errno = 0;
	n.socket = socket;
	births_open(&n.births);
	/* where the kernel says nothing there is nothing to be done */
	if (n.births.fd >= 0 && guardian_send(socket, "", 1) == 0)
		nursery_run(&n);
	__atomic_store_n(&shared->is_wanted, 0, __ATOMIC_RELEASE);
	nurses_join(&n, true);
	_exit(0);
}
