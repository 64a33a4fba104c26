/* The child: hears of programs that begin, and looks after those that are machines. */
#include "capture/probe/cradle.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/time.h"
#include "base/vec.h"
#include "capture/probe/apart.h"
#include "capture/probe/births.h"
#include "capture/probe/cradle_child.h"
#include "capture/probe/guardian.h"
#include "capture/probe/tracee.h"

#define BEGINS_MS 1 /* while a machine is looked for */
#define HELD_MS 20
#define IDLE_MS 1000
#define NAP_MS 4
#define SWEEP_NS (10 * NS_S)

struct nursery {
	int socket;
	struct cradle_shared *shared;
	struct births births;
	struct tracee_late late;
	VEC(struct cradle_child) v;
	int64_t swept; /* tick */
};

static struct cradle_child *child_of(struct nursery *n, int pid)
{
	vec_each (&n->v, c)
		if (c->pid == pid)
			return c;
	return NULL;
}

static void child_drop(struct nursery *n, int pid)
{
	struct cradle_child *c = child_of(n, pid);

	if (!c)
		return;
	cradle_child_leave(c, &n->late);
	*c = n->v.v[--n->v.nr];
}

/* Our code is not in what it has become. */
static void began(void *to, int pid)
{
	struct nursery *n = to;
	struct cradle_child c;

	child_drop(n, pid);
	if (__atomic_load_n(&n->shared->is_wanted, __ATOMIC_ACQUIRE) && cradle_child_begin(&c, pid))
		vec_push(&n->v, c);
}

static int on_ask(struct nursery *n)
{
	struct cradle_ask a;

	if (guardian_receive(n->socket, &a, sizeof(a)) < 0)
		return -EPIPE;
	if (a.kind == CRADLE_OF)
		births_of(&n->births, a.pid);
	else if (a.kind == CRADLE_LET_GO)
		child_drop(n, a.pid);
	return 0;
}

static void tend(struct nursery *n)
{
	bool is_wanted = __atomic_load_n(&n->shared->is_wanted, __ATOMIC_ACQUIRE);

	tracee_late(&n->late);
	for (size_t i = n->v.nr; i-- > 0;) {
		struct cradle_child *c = &n->v.v[i];

		if (is_wanted && cradle_child_tend(c, n->shared->ticks_per_ns, &n->late))
			continue;
		cradle_child_leave(c, &n->late);
		*c = n->v.v[--n->v.nr];
	}
	if (time_tick() - n->swept < SWEEP_NS)
		return;
	births_sweep(&n->births);
	n->swept = time_tick();
}

static int patience(const struct nursery *n)
{
	vec_each (&n->v, c)
		if (!c->f)
			return BEGINS_MS;
	return n->v.nr ? HELD_MS : IDLE_MS;
}

/* Where others start programs all the time they are not listened to each time. */
static int listen_for(struct nursery *n, struct pollfd p[2], int nap)
{
	int r, wait = patience(n);

	p[0].revents = p[1].revents = 0;
	r = nap ? poll(p, 1, nap < wait ? nap : wait) : 0;
	return r == 0 ? poll(p, 2, nap && nap < wait ? wait - nap : wait) : r;
}

_Noreturn void cradle_run(int socket, struct cradle_shared *shared)
{
	struct nursery n = { .shared = shared };
	struct pollfd p[2] = { { .events = POLLIN }, { .events = POLLIN } };
	int32_t none = 0;
	int nap = 0;

	apart("culprit-cradle", &socket, &none);
	n.socket = p[0].fd = socket;
	births_open(&n.births);
	p[1].fd = n.births.fd;
	/* where the kernel says nothing there is nothing to be done */
	if (n.births.fd < 0 || guardian_send(socket, "", 1) < 0)
		_exit(0);
	for (;;) {
		if (listen_for(&n, p, nap) < 0 && errno != EINTR)
			break;
		if (p[0].revents && on_ask(&n) < 0)
			break;
		nap = births_read(&n.births, began, &n) || !p[1].revents ? 0
		      : nap < NAP_MS                                     ? nap + 1
									 : NAP_MS;
		vec_clear(&n.births.made);
		tend(&n);
	}
	vec_each (&n.v, c)
		cradle_child_leave(c, &n.late);
	for (int i = 0; n.late.tids.nr && i < 100; i++) {
		tracee_late(&n.late);
		nanosleep(&(struct timespec){ .tv_nsec = NS_MS }, NULL);
	}
	_exit(0);
}
