#include "capture/probe/guest/stream.h"

#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <linux/unix_diag.h>
#include <stddef.h>

#include "capture/probe/guest/far.h"
#include "capture/probe/guest/guest.h"

#define SYS_CLOSE 3
#define SYS_FSTAT 5
#define SYS_IOCTL 16
#define SYS_SOCKET 41
#define SYS_SENDTO 44
#define SYS_RECVFROM 45
#define SYS_GETSOCKNAME 51
#define SYS_GETPEERNAME 52
#define SYS_GETSOCKOPT 55
#define FIONREAD_ 0x541b
#define TIOCOUTQ_ 0x5411
#define LEVEL_SOCKET 1
#define LEVEL_TCP 6
#define OPTION_TYPE 3
#define OPTION_PROTOCOL 38
#define OPTION_DOMAIN 39
#define OPTION_NETNS_COOKIE 71
#define FAMILY_UNIX 1
#define FAMILY_INET 2
#define FAMILY_INET6 10
#define FAMILY_NETLINK 16
#define TYPE_STREAM 1
#define TYPE_RAW_CLOEXEC (3 | 02000000)
#define DONTWAIT 0x40
#define NOT_A_SOCKET (-88)
#define STATE_ESTABLISHED 1
#define STATE_TIME_WAIT 6
#define STATE_CLOSE_WAIT 8
#define STATE_LISTEN 10
#define FRAME_SHIFT 40 /* a sender that is met in the middle counts from a number of its own on */
#define TRIES 8

/* The front of what the kernel fills for fstat on x86-64. */
struct status {
	uint64_t dev, ino, nlink;
	uint32_t mode, rest[29];
	uint64_t room[8];
};

struct address {
	struct handover_address host;
	uint16_t port;
	bool is_loopback;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 p =
		(unsigned __int128)(a ^ 0xa0761d6478bd642fu) * (b ^ 0xe7037ed1a0b428dbu);

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static uint64_t named(uint64_t hash)
{
	return hash ? hash : 1;
}

static long option(int fd, long level, long name, void *to, uint32_t *bytes)
{
	return guest_call(SYS_GETSOCKOPT, fd, level, name, (long)to, (long)bytes, 0);
}

static int option_int(int fd, long name)
{
	uint32_t n = sizeof(int);
	int v = 0;
	long r = option(fd, LEVEL_SOCKET, name, &v, &n);

	return r < 0 ? (int)r : v;
}

static bool address_of(int fd, long call, struct address *a)
{
	uint64_t room[16];
	const uint8_t *p = (const uint8_t *)room;
	struct handover_address *host = &a->host;
	uint32_t n = sizeof(room);
	uint16_t family;

	if (guest_call(call, fd, (long)room, (long)&n, 0, 0, 0) < 0 || n < 8)
		return false;
	family = (uint16_t)(p[0] | p[1] << 8);
	a->port = (uint16_t)(p[2] << 8 | p[3]);
	host->high = host->low = 0;
	if (family == FAMILY_INET) {
		for (int i = 4; i < 8; i++)
			host->low = host->low << 8 | p[i];
		host->low |= (uint64_t)0xffff << 32;
	} else if (family == FAMILY_INET6 && n >= 24) {
		for (int i = 8; i < 16; i++)
			host->high = host->high << 8 | p[i];
		for (int i = 16; i < 24; i++)
			host->low = host->low << 8 | p[i];
	} else {
		return false;
	}
	a->is_loopback = !host->high && (host->low == 1 || host->low >> 24 == 0xffff7f);
	return true;
}

static uint64_t address_key(const struct address *from, const struct address *to, uint64_t net)
{
	uint64_t h = mix(from->host.high, from->host.low);

	h = mix(h ^ to->host.high, to->host.low);
	return named(mix(h ^ ((uint64_t)from->port << 16 | to->port), net));
}

static bool tcp_info(int fd, struct tcp_info *i)
{
	uint32_t n = sizeof(*i);

	return option(fd, LEVEL_TCP, TCP_INFO, i, &n) == 0 &&
	       n >= offsetof(struct tcp_info, tcpi_bytes_retrans) + 8;
}

static uint64_t tcp_written(const struct tcp_info *i)
{
	return i->tcpi_bytes_sent - i->tcpi_bytes_retrans + i->tcpi_notsent_bytes;
}

/* Who has connected has one byte acknowledged that it never sent: the beginning. Where that cannot
 * be told any more, servers are those with the lower number. */
static enum stream_role tcp_role(int fd, bool is_lower)
{
	struct tcp_info a, b;
	int n = 0;

	for (int i = 0; i < TRIES && tcp_info(fd, &a); i++) {
		if (a.tcpi_state != STATE_ESTABLISHED && a.tcpi_state != STATE_CLOSE_WAIT)
			break;
		if (guest_call(SYS_IOCTL, fd, TIOCOUTQ_, (long)&n, 0, 0, 0) < 0 ||
		    !tcp_info(fd, &b))
			break;
		if (a.tcpi_bytes_acked != b.tcpi_bytes_acked ||
		    a.tcpi_bytes_sent != b.tcpi_bytes_sent)
			continue;
		return a.tcpi_bytes_acked + (uint64_t)n == tcp_written(&b) + 1 ? STREAM_CLIENT
									       : STREAM_SERVER;
	}
	return is_lower ? STREAM_SERVER : STREAM_CLIENT;
}

static enum stream_reach reach_of(const struct handover *h, const struct handover_address *there)
{
	if (far_is_here(h, there))
		return STREAM_HERE;
	return __atomic_load_n(&h->reach, __ATOMIC_ACQUIRE) == HANDOVER_REACHES ? STREAM_FAR
										: STREAM_FOREIGN;
}

/* h: NULL when only its name is wanted. */
static bool tcp_look(struct stream *s, int fd, const struct handover *h,
		     struct handover_address *peer)
{
	struct address here, there;
	uint32_t n = sizeof(uint64_t);
	uint64_t net = 0;
	bool is_within;

	if (option_int(fd, OPTION_PROTOCOL) != LEVEL_TCP ||
	    !address_of(fd, SYS_GETSOCKNAME, &here) || !address_of(fd, SYS_GETPEERNAME, &there))
		return false;
	/* addresses that mean another host, or container, everywhere */
	is_within = here.is_loopback || there.is_loopback ||
		    (here.host.high == there.host.high && here.host.low == there.host.low);
	if (is_within)
		option(fd, LEVEL_SOCKET, OPTION_NETNS_COOKIE, &net, &n);
	s->key_out = address_key(&here, &there, net);
	s->key_in = address_key(&there, &here, net);
	if (s->role == STREAM_EITHER)
		s->role = (uint8_t)tcp_role(fd, here.port < there.port);
	s->kind = STREAM_TCP;
	if (h && !is_within)
		s->reach = (uint8_t)reach_of(h, &there.host);
	*peer = there.host;
	return true;
}

static uint64_t inode_of(int fd, uint32_t *mode)
{
	struct status st;

	if (guest_call(SYS_FSTAT, fd, (long)&st, 0, 0, 0, 0) < 0)
		return 0;
	*mode = st.mode;
	return st.ino;
}

static bool local_look(struct stream *s, int fd)
{
	uint64_t room[16];
	uint32_t n = sizeof(room), mode = 0;
	uint64_t inode = inode_of(fd, &mode);

	if (!inode)
		return false;
	s->key_out = named(mix(inode, STREAM_LOCAL));
	/* a server's socket has a name: that of the one it listens at */
	if (s->role == STREAM_EITHER && !s->is_fresh &&
	    guest_call(SYS_GETSOCKNAME, fd, (long)room, (long)&n, 0, 0, 0) >= 0)
		s->role = n > 2 ? STREAM_SERVER : STREAM_CLIENT;
	s->kind = STREAM_LOCAL;
	return true;
}

static bool pipe_look(struct stream *s, int fd)
{
	uint32_t mode = 0;
	uint64_t inode = inode_of(fd, &mode);

	if (!inode || (mode & 0170000) != 0010000)
		return false;
	s->key_out = s->key_in = named(mix(inode, STREAM_PIPE));
	s->kind = STREAM_PIPE;
	return true;
}

bool stream_look(struct stream *s, int fd, struct handover *h)
{
	int domain = option_int(fd, OPTION_DOMAIN);
	struct handover_address peer;
	uint64_t since = FAR_UNKNOWN;
	bool is = false;

	if (domain == NOT_A_SOCKET)
		is = pipe_look(s, fd);
	else if (domain >= 0 && option_int(fd, OPTION_TYPE) == TYPE_STREAM)
		is = domain == FAMILY_UNIX ? local_look(s, fd) : tcp_look(s, fd, h, &peer);
	if (!is) {
		s->kind = STREAM_NONE;
		return false;
	}
	if (s->is_fresh) {
		s->has_out = s->has_in = 1;
		s->out = s->in = 0;
		s->is_fresh = 0;
		since = 0;
		if (s->kind != STREAM_PIPE)
			handover_forget(h, s->key_out);
	}
	if (s->reach == STREAM_FAR) {
		far_meet(h, s->key_out, &peer, true, since, now());
		far_meet(h, s->key_in, &peer, false, since, now());
	}
	return true;
}

struct question {
	struct nlmsghdr head;
	struct unix_diag_req ask;
};

/* The number of the socket at the other end, or 0: the kernel tells it to whoever asks. */
static uint64_t peer_of(uint64_t inode)
{
	uint64_t room[64];
	struct question q = { .head = { sizeof(q), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 1, 0 },
			      .ask = { .sdiag_family = FAMILY_UNIX,
				       .udiag_states = ~0u,
				       .udiag_ino = (uint32_t)inode,
				       .udiag_show = UDIAG_SHOW_PEER,
				       .udiag_cookie = { ~0u, ~0u } } };
	const struct nlmsghdr *head = (const struct nlmsghdr *)room;
	long fd = guest_call(SYS_SOCKET, FAMILY_NETLINK, TYPE_RAW_CLOEXEC, NETLINK_SOCK_DIAG, 0, 0,
			     0);
	uint32_t at = sizeof(*head) + sizeof(struct unix_diag_msg), peer = 0;
	long n = -1;

	if (fd < 0)
		return 0;
	if (guest_call(SYS_SENDTO, fd, (long)&q, sizeof(q), 0, 0, 0) == sizeof(q))
		n = guest_call(SYS_RECVFROM, fd, (long)room, sizeof(room), DONTWAIT, 0, 0);
	guest_call(SYS_CLOSE, fd, 0, 0, 0, 0, 0);
	if (n < (long)at || head->nlmsg_type != SOCK_DIAG_BY_FAMILY || head->nlmsg_len > n)
		return 0;
	while (at + 8 <= head->nlmsg_len) {
		const uint16_t *a = (const uint16_t *)((const char *)room + at);

		if (a[1] == UNIX_DIAG_PEER && a[0] >= 8)
			peer = *(const uint32_t *)(a + 2);
		at += (uint32_t)(a[0] < 4 ? 4 : a[0] + 3) & ~3u;
	}
	return peer;
}

/* One call, so that all of it is of one moment. */
static bool tcp_out(int fd, uint64_t *at)
{
	struct tcp_info i;

	if (!tcp_info(fd, &i))
		return false;
	*at = tcp_written(&i);
	return true;
}

static bool unread(int fd, uint64_t *nr)
{
	int n = 0;

	if (guest_call(SYS_IOCTL, fd, FIONREAD_, (long)&n, 0, 0, 0) < 0)
		return false;
	*nr = (uint64_t)n;
	return true;
}

/* The end of what the other one sends is counted like a byte. */
static bool has_end(const struct tcp_info *i)
{
	return i->tcpi_state >= STATE_TIME_WAIT && i->tcpi_state != STATE_LISTEN;
}

/* Two calls, until nothing has come between them. */
static bool tcp_in(int fd, uint64_t *at)
{
	struct tcp_info a, b;
	uint64_t n;

	if (!tcp_info(fd, &a))
		return false;
	for (int i = 0; i < TRIES; i++, a = b) {
		if (!unread(fd, &n) || !tcp_info(fd, &b))
			return false;
		if (a.tcpi_bytes_received == b.tcpi_bytes_received) {
			*at = b.tcpi_bytes_received - n - has_end(&b);
			return true;
		}
	}
	return false;
}

void stream_place_out(struct stream *s, int fd, uint64_t now)
{
	if (s->has_out)
		return;
	if (s->kind == STREAM_TCP) {
		s->has_out = tcp_out(fd, &s->out);
		return;
	}
	s->out = ((mix(now, s->key_out) & 0x7fff) | 1) << FRAME_SHIFT;
	s->has_out = 1;
}

static void peer_place(struct stream *s, int fd)
{
	uint32_t mode;
	uint64_t inode = inode_of(fd, &mode), peer = inode ? peer_of(inode) : 0;

	s->key_in = peer ? named(mix(peer, STREAM_LOCAL)) : 0;
}

static bool is_of_frame(uint64_t sent, uint64_t at)
{
	return sent >> FRAME_SHIFT == at >> FRAME_SHIFT;
}

/* By the sender's count, and what waits to be read. While it sends, nobody knows how much of that
 * has come, and may have been read already. */
static bool local_in(const struct stream *s, int fd, const struct handover *h, uint64_t now,
		     uint64_t *at)
{
	uint64_t sent, again, until, n;

	if (handover_sent(h, s->key_in, &sent, &until) != HANDOVER_SAID || now > until ||
	    !unread(fd, &n) || handover_sent(h, s->key_in, &again, &until) != HANDOVER_SAID ||
	    sent != again || n > sent)
		return false;
	*at = sent - n;
	return true;
}

bool stream_counts_on(const struct stream *s, const struct handover *h)
{
	uint64_t sent, until;

	return s->kind == STREAM_TCP || !handover_sent(h, s->key_in, &sent, &until) ||
	       is_of_frame(sent, s->in);
}

void stream_place_in(struct stream *s, int fd, const struct handover *h, uint64_t now)
{
	if (s->kind == STREAM_TCP) {
		if (!s->has_in)
			s->has_in = tcp_in(fd, &s->in);
		return;
	}
	if (!s->key_in)
		peer_place(s, fd);
	if (s->key_in && !(s->has_in && stream_counts_on(s, h)))
		s->has_in = local_in(s, fd, h, now, &s->in);
}

bool stream_is_same(const struct stream *s, int fd)
{
	struct stream again = { .role = s->role };
	struct handover_address peer;

	if (s->kind == STREAM_TCP)
		return tcp_look(&again, fd, NULL, &peer) && again.key_out == s->key_out;
	return (s->kind == STREAM_LOCAL ? local_look(&again, fd) : pipe_look(&again, fd)) &&
	       again.key_out == s->key_out;
}

bool stream_check_out(struct stream *s, int fd)
{
	uint64_t out = s->out;

	if (s->kind != STREAM_TCP)
		return true;
	s->has_out = tcp_out(fd, &s->out);
	return out == s->out;
}

bool stream_check_in(struct stream *s, int fd, const struct handover *h, uint64_t now)
{
	uint64_t in = s->in, at;

	if (s->kind == STREAM_TCP)
		s->has_in = tcp_in(fd, &s->in);
	else if (s->key_in && local_in(s, fd, h, now, &at) && is_of_frame(at, s->in))
		s->in = at;
	return in == s->in;
}
