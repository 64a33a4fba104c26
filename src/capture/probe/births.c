#include "capture/probe/births.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/time.h"
#include "capture/probe/kin.h"

#define RECEIVE_BYTES (1 << 20)
#define AT_WHAT (NLMSG_HDRLEN + sizeof(struct cn_msg))
#define AT_CHILD (AT_WHAT + offsetof(struct proc_event, event_data.fork.child_pid))
#define CROWD 64u
#define ENDED 1u /* of one of the family: it was seen to have, once */

/* Of all that is said only what is asked for wakes us. */
static void listen_to_few(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT_WHAT),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_EXEC), 5, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_FORK), 0, 5),
		/* threads are made likewise */
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT_CHILD + 4),
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT_CHILD),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };
	int bytes = RECEIVE_BYTES;

	setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

void births_open(struct births *b)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	struct {
		struct nlmsghdr head;
		struct cn_msg message;
		uint32_t op;
	} ask = { .head = { .nlmsg_len = NLMSG_LENGTH(sizeof(struct cn_msg) + sizeof(uint32_t)),
			    .nlmsg_type = NLMSG_DONE },
		  .message = { .id = { CN_IDX_PROC, CN_VAL_PROC }, .len = sizeof(uint32_t) },
		  .op = PROC_CN_MCAST_LISTEN };

	b->fd = socket(PF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);
	if (b->fd < 0)
		return;
	listen_to_few(b->fd);
	if (bind(b->fd, (struct sockaddr *)&to, sizeof(to)) < 0 ||
	    send(b->fd, &ask, ask.head.nlmsg_len, 0) < 0) {
		close(b->fd);
		b->fd = -1;
	}
}

void births_close(struct births *b)
{
	if (b->fd >= 0)
		close(b->fd);
	map_done(&b->family);
	vec_done(&b->made);
	b->fd = -1;
}

/* With the time at which it was one of the family: what is told of the number before is of itself,
 * and afterwards of another one. */
static void family_add(struct births *b, int pid, int64_t since)
{
	*map_at(&b->family, (uint64_t)pid) = (uint64_t)since & ~(uint64_t)ENDED;
}

void births_of(struct births *b, int pid)
{
	if (pid == BIRTHS_ALL)
		b->is_of_all = true;
	else
		family_add(b, pid, time_tick());
}

/* Numbers are given out again. */
static void stranger_made(struct births *b, int pid, int64_t when)
{
	uint64_t *at = map_find(&b->family, (uint64_t)pid);

	if (at && (int64_t)*at < when)
		*at = 0;
}

static bool is_of_family(const struct births *b, int pid)
{
	const uint64_t *at = map_find(&b->family, (uint64_t)pid);

	return b->is_of_all || (at && *at);
}

/* Whether it is about one of those that are asked for. */
static bool take(struct births *b, const struct proc_event *e, void (*began)(void *to, int pid),
		 void *to)
{
	if (e->what == PROC_EVENT_FORK) {
		int made = e->event_data.fork.child_tgid;

		/* threads are made likewise */
		if (b->is_of_all || e->event_data.fork.child_pid != made)
			return false;
		if (!is_of_family(b, e->event_data.fork.parent_tgid)) {
			stranger_made(b, made, (int64_t)e->timestamp_ns);
			return false;
		}
		family_add(b, made, (int64_t)e->timestamp_ns);
		vec_push(&b->made, made);
		return true;
	}
	if (e->what != PROC_EVENT_EXEC || !is_of_family(b, e->event_data.exec.process_tgid))
		return false;
	began(to, e->event_data.exec.process_tgid);
	return true;
}

/* Where it began later than that it is another one. */
static bool is_same(uint64_t started, uint64_t since)
{
	uint64_t tick = NS_S / (uint64_t)sysconf(_SC_CLK_TCK);
	struct timespec boot;

	/* processes are told to have begun by a clock that goes on while the machine sleeps */
	clock_gettime(CLOCK_BOOTTIME, &boot);
	since += (uint64_t)(boot.tv_sec * NS_S + boot.tv_nsec - time_tick());
	return started && started * tick <= since + tick;
}

void births_sweep(struct births *b)
{
	struct map kept = { 0 };
	const struct map_slot *at = NULL;
	size_t nr_there = 0;

	while ((at = map_next(&b->family, at))) {
		uint64_t started = at->value ? kin_started((int)at->key) : 0;

		nr_there += started != 0;
		if (is_same(started, at->value))
			*map_at(&kept, at->key) = at->value & ~(uint64_t)ENDED;
		else if (at->value && !started && !(at->value & ENDED))
			*map_at(&kept, at->key) = at->value | ENDED;
	}
	map_done(&b->family);
	b->family = kept;
	b->crowd = 2 * nr_there;
}

size_t births_read(struct births *b, void (*began)(void *to, int pid), void *to)
{
	_Alignas(struct nlmsghdr) char bytes[4096];
	struct sockaddr_nl from;
	socklen_t n = sizeof(from);
	struct proc_event e;
	size_t nr = 0;
	ssize_t got;

	while (b->fd >= 0) {
		got = recvfrom(b->fd, bytes, sizeof(bytes), 0, (struct sockaddr *)&from, &n);
		if (got < 0 && errno == ENOBUFS) {
			b->nr_missed++;
			continue;
		}
		if (got < 0)
			break;
		/* only the kernel speaks for itself */
		if (from.nl_pid || (size_t)got < AT_WHAT + sizeof(e))
			continue;
		memcpy(&e, bytes + AT_WHAT, sizeof(e));
		nr += take(b, &e, began, to);
		n = sizeof(from);
	}
	if (b->family.nr > b->crowd + CROWD)
		births_sweep(b);
	return nr;
}
