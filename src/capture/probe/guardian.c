#include "capture/probe/guardian.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/time.h"
#include "capture/probe/apart.h"
#include "capture/probe/family.h"
#include "capture/probe/members.h"

#define TICK_MS 100
#define NAP_MS 10
#define TICK_MOST_MS 500 /* when nothing new was seen for a while */
#define ASK_MAX ((uint64_t)64 << 20)

struct guardian {
	int socket;
	struct guardian_shared *shared;
	struct members members;
};

int guardian_send(int socket, const void *p, size_t n)
{
	const char *at = p;

	while (n) {
		ssize_t r = send(socket, at, n, MSG_NOSIGNAL);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return -EPIPE;
		at += r;
		n -= (size_t)r;
	}
	return 0;
}

int guardian_receive(int socket, void *p, size_t n)
{
	char *at = p;

	while (n) {
		ssize_t r = recv(socket, at, n, 0);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return -EPIPE;
		at += r;
		n -= (size_t)r;
	}
	return 0;
}

static int answer(struct guardian *g, const struct guardian_ask *a, const struct error *err,
		  const uint8_t *whys)
{
	struct guardian_answer s = { .kind = a->kind, .code = err->code };

	snprintf(s.msg, sizeof(s.msg), "%s", err->msg);
	s.nr = whys ? a->nr : 0;
	if (guardian_send(g->socket, &s, sizeof(s)) < 0)
		return -EPIPE;
	return whys ? guardian_send(g->socket, whys, a->nr) : 0;
}

/* Hands over the memory of families that are new. */
static int regions_tell(struct guardian *g)
{
	for (size_t i = 0; i < g->members.families.nr; i++) {
		struct family_of *f = &g->members.families.v[i];
		struct guardian_answer s = { .kind = GUARDIAN_REGION,
					     .nr = (uint32_t)i + 1,
					     .code = f->pid };
		struct iovec part = { &s, sizeof(s) };
		union {
			char room[CMSG_SPACE(sizeof(int))];
			struct cmsghdr align;
		} control = { 0 };
		struct msghdr m = { .msg_iov = &part,
				    .msg_iovlen = 1,
				    .msg_control = &control,
				    .msg_controllen = sizeof(control.room) };
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);

		if (f->is_told || !f->f)
			continue;
		s.bytes = f->f->bytes;
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &f->f->fd, sizeof(int));
		if (sendmsg(g->socket, &m, MSG_NOSIGNAL) != (ssize_t)sizeof(s))
			return -EPIPE;
		f->is_told = true;
	}
	return 0;
}

/* And of those that are over. */
static int gone_tell(struct guardian *g)
{
	for (size_t i = 0; i < g->members.families.nr; i++) {
		struct family_of *f = &g->members.families.v[i];
		struct guardian_answer s = { .kind = GUARDIAN_GONE, .nr = (uint32_t)i + 1 };

		if (f->f || f->is_told_gone)
			continue;
		if (guardian_send(g->socket, &s, sizeof(s)) < 0)
			return -EPIPE;
		f->is_told_gone = true;
	}
	return 0;
}

static int on_open(struct guardian *g, const struct guardian_ask *a)
{
	struct error err = { 0 };

	g->members.follows = a->follows;
	g->members.max_bytes = a->max_bytes;
	members_open(&g->members, a->pid, a->root, &err);
	if (regions_tell(g) < 0)
		return -EPIPE;
	members_alive(&g->members);
	return answer(g, a, &err, NULL);
}

static int on_add(struct guardian *g, const struct guardian_ask *a, char *body)
{
	const struct guardian_function *v = (void *)body;
	cleanup(free) uint8_t *whys = mem_zalloc(a->nr + 1);
	size_t fixed = a->nr * sizeof(*v);
	struct error err = { 0 };

	if (a->nr > PROBE_FUNCTIONS || a->bytes < fixed + 1 || body[a->bytes - 1])
		return -EBADMSG;
	for (uint32_t i = 0; i < a->nr; i++)
		if (v[i].module >= a->bytes - fixed || v[i].id >= PROBE_FUNCTIONS)
			return -EBADMSG;
	members_add(&g->members, v, a->nr, body + fixed, whys, &err);
	if (regions_tell(g) < 0)
		return -EPIPE;
	members_alive(&g->members);
	return answer(g, a, &err, whys);
}

static int on_remove(struct guardian *g, const struct guardian_ask *a, const char *body)
{
	struct error err = { 0 };

	if (a->bytes != a->nr * sizeof(uint32_t))
		return -EBADMSG;
	members_remove(&g->members, (const uint32_t *)(const void *)body, a->nr, &err);
	return answer(g, a, &err, NULL);
}

static int on_ask(struct guardian *g)
{
	cleanup(free) char *body = NULL;
	struct guardian_ask a;

	if (guardian_receive(g->socket, &a, sizeof(a)) < 0 || a.bytes > ASK_MAX)
		return -EPIPE;
	body = mem_alloc(a.bytes + 1);
	if (guardian_receive(g->socket, body, a.bytes) < 0)
		return -EPIPE;
	switch (a.kind) {
	case GUARDIAN_OPEN:
		return on_open(g, &a);
	case GUARDIAN_ADD:
		return on_add(g, &a, body);
	case GUARDIAN_REMOVE:
		return on_remove(g, &a, body);
	}
	return -EBADMSG;
}

_Noreturn void guardian_run(int socket, struct guardian_shared *shared)
{
	struct guardian g = { .shared = shared };
	struct pollfd p[2] = { { .events = POLLIN }, { .events = POLLIN } };
	int32_t handover = shared->handover;
	int64_t ticked = 0;
	int tick = TICK_MS, nap = 0;

	apart("culprit-guard", &socket, &handover);
	g.socket = p[0].fd = socket;
	g.members.shared = shared;
	g.members.handover = handover;
	births_open(&g.members.births);
	p[1].fd = g.members.births.fd;
	for (;;) {
		uint64_t nr = shared->nr_processes;
		int n;

		p[1].revents = 0;
		n = nap ? poll(p, 1, nap) : 0;
		if (n == 0)
			n = poll(p, 2, tick);

		if (n < 0 && errno != EINTR)
			break;
		members_alive(&g.members);
		if (n > 0 && p[0].revents && on_ask(&g) < 0)
			break;
		/* where others start programs all the time they are not listened to each time */
		nap = members_hear(&g.members) || !p[1].revents ? 0
		      : nap < NAP_MS                            ? nap + 1
								: NAP_MS;
		if (p[0].revents || time_tick() - ticked >= tick * NS_MS) {
			members_tick(&g.members);
			ticked = time_tick();
			/* who makes no processes is not asked for them all the time */
			tick = tick < TICK_MOST_MS ? tick + tick / 10 : tick;
		}
		if (p[0].revents || shared->nr_processes != nr)
			tick = TICK_MS;
		if (regions_tell(&g) < 0 || gone_tell(&g) < 0)
			break;
	}
	members_close(&g.members);
	_exit(0);
}
