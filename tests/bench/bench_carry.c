/* What a bag costs on its way over a connection: what our code does before and after a call that
 * sends or receives, without the call itself. Prints the best of many rounds. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "capture/probe/guest/courier.h"
#include "capture/probe/guest/guest.h"

#define RING ((uint64_t)64 << 20)
#define CALLS 2000
#define ROUNDS 200
#define PARTS 6

static struct handover *table;
static uint64_t tick; /* the probe has read the clock already */
static struct courier_fd fds[2][COURIER_FDS];
static struct carry_counts counts[2];

struct side {
	struct bag bag;
	struct bag_writer writer;
	struct courier_state state;
	struct courier_room room;
	int fd, nr;
};

long guest_call(long nr, long a, long b, long c, long d, long e, long f)
{
	long r = syscall(nr, a, b, c, d, e, f);

	return r < 0 ? -errno : r;
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static struct courier of(struct side *s)
{
	return (struct courier){ .table = table,
				 .fds = fds[s->nr],
				 .counts = &counts[s->nr],
				 .session = 1,
				 .tid = (uint32_t)s->nr + 1,
				 .bag = &s->bag,
				 .writer = &s->writer,
				 .state = &s->state,
				 .room = &s->room,
				 .until = UINT64_MAX,
				 .now = tick };
}

static void begin(struct side *s, int nr, int fd, enum carry_call call)
{
	struct courier c;

	tick = now();
	s->nr = nr;
	s->fd = fd;
	bag_begin(&s->bag);
	bag_writer_begin(&s->writer, (uint64_t)(nr + 1) << 32);
	c = of(s);
	courier_leave(&c, call, (uint64_t[6]){ (uint64_t)fd }, fd);
}

static void step(struct side *s, enum carry_call call, int64_t result)
{
	static const char bytes[128];
	const uint64_t a[6] = { (uint64_t)s->fd, (uint64_t)bytes, (uint64_t)result };
	struct courier c = of(s);

	c.first = bytes;
	courier_enter(&c, call, a);
	c = of(s);
	courier_leave(&c, call, a, result);
}

static void pack(struct side *s, uint64_t value)
{
	struct bag_entry head = { .slot = 7, .kind = BAG_ITEM_FIRST, .at_most = 1, .nr = 1 };
	struct bag_pending p = { 0 };
	uint64_t *words;
	struct courier c = of(s);

	courier_begin(&c);
	bag_item_begin(&s->bag, &p, &head);
	words = bag_item_words(&s->bag, &p, 2);
	words[0] = words[1] = value;
	bag_item_commit(&s->bag, &p, &s->writer, 1);
}

static double spent[PARTS][CALLS];

/* Each part alone: of a request that is sent and received, and its reply. */
static void chain(struct side *client, struct side *server, int nr)
{
	double t[PARTS + 1];

	tick = now();
	t[0] = now_ns();
	t[1] = now_ns();
	pack(client, 5);
	t[2] = now_ns();
	step(client, CARRY_OUT, 100);
	t[3] = now_ns();
	step(server, CARRY_IN, 100);
	t[4] = now_ns();
	step(server, CARRY_OUT, 100);
	t[5] = now_ns();
	step(client, CARRY_IN, 100);
	t[6] = now_ns();
	for (int i = 0; i < PARTS; i++)
		spent[i][nr] = t[i + 1] - t[i];
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double middle(int part)
{
	qsort(spent[part], CALLS, sizeof(double), by_size);
	return spent[part][CALLS / 2];
}

static double empty(struct side *client, struct side *server)
{
	double t0 = now_ns();

	tick = now();
	for (int i = 0; i < CALLS; i++) {
		step(client, CARRY_OUT, 100);
		step(server, CARRY_IN, 100);
	}
	return (now_ns() - t0) / CALLS / 2;
}

int main(void)
{
	static struct side client, server;
	static const char *const names[] = { "empty, a call",   "begins and packs",
					     "sends",           "receives a request",
					     "sends the reply", "receives a reply" };
	double best[PARTS];
	int v[2];
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);
	int l = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(l, (void *)&a, n) < 0 || getsockname(l, (void *)&a, &n) < 0 || listen(l, 1) < 0)
		return 1;
	v[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(v[0], (void *)&a, n) < 0)
		return 1;
	v[1] = accept(l, NULL, NULL);
	table = mmap(NULL, HANDOVER_RING_AT + RING, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	handover_init(table, RING, (uint64_t)1 << 40);
	begin(&client, 0, v[0], CARRY_CONNECT);
	begin(&server, 1, v[1], CARRY_ACCEPT);
	for (int i = 0; i < PARTS; i++)
		best[i] = 1e18;
	for (int i = 0; i < ROUNDS; i++) {
		double got = empty(&client, &server);

		best[0] = got < best[0] ? got : best[0];
		for (int k = 0; k < CALLS; k++)
			chain(&client, &server, k);
		bag_clear(&client.bag, &client.writer);
		bag_clear(&server.bag, &server.writer);
		for (int k = 1; k < PARTS; k++) {
			got = middle(k) - middle(0);
			best[k] = got < best[k] ? got : best[k];
		}
	}
	for (int i = 0; i < PARTS; i++)
		printf("carry: %s: %.0f ns\n", names[i], best[i]);
	return counts[1].nr_received ? 0 : 1;
}
