/* Names and positions of connections, on which both ends agree: on real sockets and pipes. */
#include "unit.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "capture/probe/guest/stream.h"

#define RING ((uint64_t)1 << 20)

static struct handover *table;

static int set_up(void **state)
{
	(void)state;
	table = mmap(NULL, HANDOVER_RING_AT + RING, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(table, MAP_FAILED);
	handover_init(table, RING, (uint64_t)1 << 40);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	munmap(table, HANDOVER_RING_AT + RING);
	return 0;
}

/* Both ends of a connection over TCP: v[0] has connected, v[1] was accepted. */
static void tcp_pair(int *v, bool is_v6)
{
	struct sockaddr_in a4 = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in6 a6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr *a = is_v6 ? (void *)&a6 : (void *)&a4;
	socklen_t n = is_v6 ? sizeof(a6) : sizeof(a4);
	int l = socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);

	if (bind(l, a, n) < 0) {
		close(l);
		skip();
	}
	assert_int_equal(listen(l, 1), 0);
	assert_int_equal(getsockname(l, a, &n), 0);
	v[0] = socket(a->sa_family, SOCK_STREAM, 0);
	assert_int_equal(connect(v[0], a, n), 0);
	v[1] = accept(l, NULL, NULL);
	assert_true(v[1] >= 0);
	close(l);
}

static void local_pair(int *v)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int l = socket(AF_UNIX, SOCK_STREAM, 0);
	socklen_t n = sizeof(sa_family_t);

	/* the kernel finds a name */
	assert_int_equal(bind(l, (void *)&a, n), 0);
	n = sizeof(a);
	assert_int_equal(getsockname(l, (void *)&a, &n), 0);
	assert_int_equal(listen(l, 1), 0);
	v[0] = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(connect(v[0], (void *)&a, n), 0);
	v[1] = accept(l, NULL, NULL);
	close(l);
}

static void not_blocking(int *v)
{
	for (int i = 0; i < 2; i++)
		fcntl(v[i], F_SETFL, O_NONBLOCK);
}

/* Sends and receives at random, and asks for positions as if nothing was known. */
static void positions_check(int *v, int rounds)
{
	static char bytes[1 << 16];
	uint64_t sent[2] = { 0 }, got[2] = { 0 };

	not_blocking(v);
	for (int i = 0; i < rounds; i++) {
		int side = rand() & 1;
		struct stream s = { 0 }, other = { 0 };
		ssize_t n;

		assert_true(stream_look(&s, v[side], table));
		assert_true(stream_look(&other, v[!side], table));
		stream_place_out(&s, v[side], 1);
		stream_place_in(&other, v[!side], table, 0);
		assert_true(s.has_out && other.has_in);
		assert_int_equal(s.role, side ? STREAM_SERVER : STREAM_CLIENT);
		assert_int_equal(s.out, sent[side]);
		assert_int_equal(other.in, got[!side]);
		n = rand() % 3 ? send(v[side], bytes, (size_t)rand() % sizeof(bytes), 0) : 0;
		sent[side] += n > 0 ? (uint64_t)n : 0;
		n = rand() % 3 ? 0 : recv(v[!side], bytes, (size_t)rand() % sizeof(bytes), 0);
		got[!side] += n > 0 ? (uint64_t)n : 0;
	}
	assert_true(sent[0] > 100000 && got[1] > 100000);
}

static void tcp_is_told_by_the_kernel(void **state)
{
	int v[2];

	(void)state;
	srand(1);
	for (int i = 0; i < 2; i++) {
		tcp_pair(v, i);
		positions_check(v, 2000);
		close(v[0]);
		close(v[1]);
	}
}

static void the_end_of_a_connection_is_no_byte(void **state)
{
	struct stream s = { 0 };
	struct pollfd end = { .events = POLLRDHUP };
	char bytes[64];
	int v[2];

	(void)state;
	tcp_pair(v, false);
	assert_int_equal(send(v[0], "0123456789", 10, 0), 10);
	shutdown(v[0], SHUT_WR);
	end.fd = v[1];
	assert_int_equal(poll(&end, 1, 180000), 1);
	assert_true(stream_look(&s, v[1], table));
	stream_place_in(&s, v[1], table, 0);
	assert_int_equal(s.in, 0);
	assert_int_equal(recv(v[1], bytes, 4, 0), 4);
	s.in += 4;
	assert_true(stream_check_in(&s, v[1], table, 0));
	assert_int_equal(recv(v[1], bytes, sizeof(bytes), 0), 6);
	assert_int_equal(recv(v[1], bytes, sizeof(bytes), 0), 0);
	s.in += 6;
	assert_true(stream_check_in(&s, v[1], table, 0));
	s.in++;
	assert_false(stream_check_in(&s, v[1], table, 0));
	assert_int_equal(s.in, 10);
	close(v[0]);
	close(v[1]);
}

static void both_ends_have_the_same_names(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct stream a = { 0 }, b = { 0 };
		int v[2];

		if (i < 2)
			tcp_pair(v, i);
		else if (i == 2)
			local_pair(v);
		else
			assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, v), 0);
		assert_true(stream_look(&a, v[0], table));
		assert_true(stream_look(&b, v[1], table));
		stream_place_in(&a, v[0], table, 0);
		stream_place_in(&b, v[1], table, 0);
		assert_true(a.key_out && a.key_in && a.key_out != a.key_in);
		assert_true(a.key_out == b.key_in);
		assert_true(b.key_out == a.key_in);
		if (i < 3) {
			assert_int_equal(a.role, STREAM_CLIENT);
			assert_int_equal(b.role, STREAM_SERVER);
		}
		close(v[0]);
		close(v[1]);
	}
}

/* Until then its calls are surely seen. */
static void say(const struct stream *s, uint64_t sent, uint64_t until)
{
	const struct handover_said said = { sent, HANDOVER_NO_END, until };

	handover_say_sent(table, s->key_out, &said, 1);
}

/* Who comes into the middle of a connection within the host learns from the sender where it is, but
 * not while that one sends. */
static void a_local_connection_is_met_in_the_middle(void **state)
{
	struct stream a = { 0 }, b = { 0 };
	char bytes[100];
	int v[2];

	(void)state;
	local_pair(v);
	assert_int_equal(send(v[0], bytes, 70, 0), 70);
	assert_true(stream_look(&a, v[0], table));
	assert_true(stream_look(&b, v[1], table));
	stream_place_in(&b, v[1], table, 0);
	assert_false(b.has_in);
	stream_place_out(&a, v[0], 1);
	say(&a, a.out | HANDOVER_SENDING, 1);
	assert_true(a.has_out);
	stream_place_in(&b, v[1], table, 0);
	assert_false(b.has_in);
	assert_int_equal(send(v[0], bytes, 30, 0), 30);
	a.out += 30;
	say(&a, a.out, 1);
	stream_place_in(&b, v[1], table, 0);
	assert_true(b.has_in);
	assert_int_equal(b.in, a.out - 100);
	/* what it sends may have been read already */
	assert_int_equal(recv(v[1], bytes, 100, 0), 100);
	stream_place_out(&a, v[0], 1);
	say(&a, a.out | HANDOVER_SENDING, 1);
	assert_int_equal(send(v[0], bytes, 10, 0), 10);
	assert_int_equal(recv(v[1], bytes, 100, 0), 10);
	b.has_in = 0;
	stream_place_in(&b, v[1], table, 0);
	assert_false(b.has_in);
	/* calls may not have been seen since */
	say(&a, a.out + 10, 5);
	stream_place_in(&b, v[1], table, 6);
	assert_false(b.has_in);
	stream_place_in(&b, v[1], table, 5);
	assert_true(b.has_in);
	assert_int_equal(b.in, a.out + 10);
	/* a wrong count is put right */
	assert_true(stream_check_in(&b, v[1], table, 0));
	b.in -= 3;
	assert_false(stream_check_in(&b, v[1], table, 0));
	assert_int_equal(b.in, a.out + 10);
	close(v[0]);
	close(v[1]);
}

static void what_is_no_stream_carries_nothing(void **state)
{
	int fd = open("/dev/null", O_RDWR), udp = socket(AF_INET, SOCK_DGRAM, 0), p[2], v[2];
	struct stream s = { 0 }, a = { 0 }, b = { 0 };

	(void)state;
	assert_false(stream_look(&s, fd, table));
	assert_int_equal(s.kind, STREAM_NONE);
	s = (struct stream){ 0 };
	assert_false(stream_look(&s, udp, table));
	s = (struct stream){ 0 };
	assert_false(stream_look(&s, 9999, table));
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, v), 0);
	s = (struct stream){ 0 };
	assert_false(stream_look(&s, v[0], table));
	assert_int_equal(pipe(p), 0);
	assert_true(stream_look(&a, p[0], table));
	assert_true(stream_look(&b, p[1], table));
	assert_true(a.key_in == b.key_out);
	for (int i = 0; i < 2; i++) {
		close(p[i]);
		close(v[i]);
	}
	close(fd);
	close(udp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tcp_is_told_by_the_kernel, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_end_of_a_connection_is_no_byte, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(both_ends_have_the_same_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_local_connection_is_met_in_the_middle, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_is_no_stream_carries_nothing, set_up,
						tear_down),
	};

	return RUN(tests);
}
