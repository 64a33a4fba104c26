/* Bags over real connections: who reads carries what came with what it read, and nothing else.
 * Processes are made up (each has descriptors of its own), and so are their threads. */
#include "unit.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "capture/probe/guest/courier.h"

#define RING ((uint64_t)8 << 20)
#define SLOT 7
#define SEEN_MAX 64

static struct handover *table;

struct process {
	struct courier_fd *fds;
	struct carry_counts counts;
	uint32_t session;
};

struct thread {
	struct process *process;
	struct bag bag;
	struct bag_writer writer;
	struct courier_state state;
	struct courier_room room;
	uint32_t tid;
};

static uint32_t nr_threads;

static void process_begin(struct process *p)
{
	*p = (struct process){ .fds = mem_zalloc(COURIER_FDS * sizeof(*p->fds)), .session = 1 };
}

static void process_end(struct process *p)
{
	free(p->fds);
}

static void thread_begin(struct thread *t, struct process *p)
{
	*t = (struct thread){ .process = p, .tid = ++nr_threads };
	bag_begin(&t->bag);
	bag_writer_begin(&t->writer, (uint64_t)t->tid << 32);
}

static struct courier courier(struct thread *t)
{
	return (struct courier){ .table = table,
				 .fds = t->process->fds,
				 .counts = &t->process->counts,
				 .session = t->process->session,
				 .tid = t->tid,
				 .bag = &t->bag,
				 .writer = &t->writer,
				 .state = &t->state,
				 .room = &t->room,
				 .until = UINT64_MAX,
				 .now = __builtin_ia32_rdtsc() };
}

/* --- what the program does, watched ---------------------------------------------------------- */

static ssize_t put(struct thread *t, int fd, const void *bytes, size_t n)
{
	struct courier c = courier(t);
	uint64_t a[6] = { (uint64_t)fd, (uint64_t)bytes, n };
	bool ends;
	ssize_t r;

	c.first = bytes;
	ends = courier_enter(&c, CARRY_OUT, a);
	r = send(fd, bytes, n, MSG_NOSIGNAL);
	if (ends)
		courier_leave(&c, CARRY_OUT, a, r);
	return r;
}

static ssize_t get(struct thread *t, int fd, void *bytes, size_t n)
{
	struct courier c = courier(t);
	uint64_t a[6] = { (uint64_t)fd, (uint64_t)bytes, n };
	bool ends = courier_enter(&c, CARRY_IN, a);
	ssize_t r = recv(fd, bytes, n, 0);

	if (ends)
		courier_leave(&c, CARRY_IN, a, r);
	return r;
}

static void called(struct thread *t, enum carry_call call, int fd, int64_t result)
{
	struct courier c = courier(t);
	uint64_t a[6] = { (uint64_t)fd };

	if (courier_enter(&c, call, a))
		courier_leave(&c, call, a, result);
}

static void begins(struct thread *t)
{
	struct courier c = courier(t);

	courier_begin(&c);
}

/* As advice does before it runs. */
static void settle(struct thread *t)
{
	struct courier c = courier(t);

	if (t->state.is_due)
		courier_settle(&c);
}

static void pack(struct thread *t, uint64_t value)
{
	struct bag_entry head = { .slot = SLOT, .kind = BAG_ITEM_ALL, .nr = 1 };
	struct bag_pending p = { 0 };
	uint64_t *words;

	settle(t);
	bag_item_begin(&t->bag, &p, &head);
	words = bag_item_words(&t->bag, &p, 1);
	assert_non_null(words);
	*words = value;
	bag_item_commit(&t->bag, &p, &t->writer, 1);
}

static size_t sees(struct thread *t, uint64_t *out)
{
	const struct bag_entry *e = NULL;
	size_t nr = 0;

	settle(t);
	while ((e = bag_next(&t->bag, SLOT, e)) && nr < SEEN_MAX)
		out[nr++] = ((const uint64_t *)(const void *)e)[BAG_HEAD_WORDS];
	return nr;
}

#define assert_sees(t, ...) \
	do { \
		const uint64_t want_[] = { __VA_ARGS__ }; \
		uint64_t got_[SEEN_MAX], sum_ = 0; \
		assert_int_equal(sees(t, got_), sizeof(want_) / 8); \
		for (size_t i_ = 0; i_ < sizeof(want_) / 8; i_++) \
			sum_ += want_[i_] - got_[i_]; \
		assert_int_equal(sum_, 0); \
	} while (0)
#define assert_sees_nothing(t) \
	do { \
		uint64_t got_[SEEN_MAX]; \
		assert_int_equal(sees(t, got_), 0); \
	} while (0)

/* --- connections ----------------------------------------------------------------------------- */

/* v[0] has connected, v[1] was accepted. */
static void pair_made(int *v, bool is_local)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct sockaddr *a = is_local ? (void *)&un : (void *)&in;
	socklen_t n = is_local ? sizeof(sa_family_t) : sizeof(in);
	int l = socket(a->sa_family, SOCK_STREAM, 0);

	assert_int_equal(bind(l, a, n), 0);
	n = is_local ? sizeof(un) : sizeof(in);
	assert_int_equal(getsockname(l, a, &n), 0);
	assert_int_equal(listen(l, 1), 0);
	v[0] = socket(a->sa_family, SOCK_STREAM, 0);
	assert_int_equal(connect(v[0], a, n), 0);
	v[1] = accept(l, NULL, NULL);
	assert_true(v[1] >= 0);
	close(l);
	for (int i = 0; i < 2 && !is_local; i++)
		setsockopt(v[i], IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
}

static void pair_watched(int *v, bool is_local, struct thread *client, struct thread *server)
{
	pair_made(v, is_local);
	called(client, CARRY_CONNECT, v[0], 0);
	called(server, CARRY_ACCEPT, 0, v[1]);
}

static struct process processes[3];
static struct thread client, middle, back;
static char room[1 << 16];

static int set_up(void **state)
{
	(void)state;
	table = mmap(NULL, HANDOVER_RING_AT + RING, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(table, MAP_FAILED);
	handover_init(table, RING, (uint64_t)1 << 40);
	for (int i = 0; i < 3; i++)
		process_begin(&processes[i]);
	thread_begin(&client, &processes[0]);
	thread_begin(&middle, &processes[1]);
	thread_begin(&back, &processes[2]);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		process_end(&processes[i]);
	munmap(table, HANDOVER_RING_AT + RING);
	return 0;
}

static void shut(int *v)
{
	close(v[0]);
	close(v[1]);
}

static void a_request_and_its_reply(void **state)
{
	(void)state;
	for (int local = 0; local < 2; local++) {
		int v[2];

		tear_down(state);
		set_up(state);
		pair_watched(v, local, &client, &middle);
		pack(&client, 7);
		assert_int_equal(put(&client, v[0], room, 100), 100);
		assert_int_equal(get(&middle, v[1], room, sizeof(room)), 100);
		assert_sees(&middle, 7);
		pack(&middle, 8);
		assert_sees(&client, 7);
		assert_int_equal(put(&middle, v[1], room, 50), 50);
		assert_int_equal(get(&client, v[0], room, sizeof(room)), 50);
		assert_sees(&client, 7, 8);
		/* the same once more, as a retry: nothing twice */
		assert_int_equal(put(&client, v[0], room, 100), 100);
		assert_int_equal(get(&middle, v[1], room, sizeof(room)), 100);
		assert_sees(&middle, 7, 8);
		shut(v);
	}
}

static void one_request_leaves_nothing_to_the_next(void **state)
{
	int v[2];

	(void)state;
	pair_watched(v, false, &client, &middle);
	for (uint64_t i = 1; i < 50; i++) {
		begins(&client);
		if (i % 3)
			pack(&client, i);
		put(&client, v[0], room, 10 + i);
		get(&middle, v[1], room, sizeof(room));
		if (i % 3)
			assert_sees(&middle, i);
		else
			assert_sees_nothing(&middle);
		pack(&middle, 1000);
		put(&middle, v[1], room, 10 + i);
		get(&client, v[0], room, sizeof(room));
		if (i % 3)
			assert_sees(&client, i, 1000);
		else
			assert_sees(&client, 1000);
	}
	shut(v);
}

static void requests_in_one_read_are_taken_up_one_by_one(void **state)
{
	int v[2];

	(void)state;
	pair_watched(v, false, &client, &middle);
	for (uint64_t i = 1; i <= 3; i++) {
		begins(&client);
		pack(&client, i);
		put(&client, v[0], room, 100);
	}
	assert_int_equal(get(&middle, v[1], room, sizeof(room)), 300);
	for (uint64_t i = 1; i <= 3; i++) {
		assert_sees(&middle, i);
		/* an answer in two pieces is one answer */
		put(&middle, v[1], room, 20);
		put(&middle, v[1], room, 20);
	}
	assert_int_equal(processes[1].counts.nr_several, 2);
	assert_int_equal(processes[1].counts.nr_guessed, 2);
	/* … or where somebody says that one begins */
	for (uint64_t i = 4; i <= 6; i++) {
		begins(&client);
		pack(&client, i);
		put(&client, v[0], room, 100);
	}
	assert_int_equal(get(&middle, v[1], room, sizeof(room)), 300);
	for (uint64_t i = 4; i <= 6; i++) {
		begins(&middle);
		assert_sees(&middle, i);
	}
	assert_int_equal(processes[1].counts.nr_guessed, 2);
	begins(&middle);
	assert_sees_nothing(&middle);
	shut(v);
}

static void a_request_read_in_pieces_is_one(void **state)
{
	int v[2];

	(void)state;
	pair_watched(v, false, &client, &middle);
	for (uint64_t i = 1; i <= 2; i++) {
		begins(&client);
		pack(&client, i);
		put(&client, v[0], room, 60);
		put(&client, v[0], room, 40);
	}
	assert_int_equal(get(&middle, v[1], room, 30), 30);
	assert_sees(&middle, 1);
	pack(&middle, 100);
	assert_int_equal(get(&middle, v[1], room, 60), 60);
	assert_sees(&middle, 1, 100);
	/* its end, and a part of the next one */
	assert_int_equal(get(&middle, v[1], room, 30), 30);
	assert_sees(&middle, 1, 100);
	assert_int_equal(get(&middle, v[1], room, 30), 30);
	assert_sees(&middle, 1, 100);
	put(&middle, v[1], room, 10);
	assert_sees(&middle, 2);
	assert_int_equal(get(&middle, v[1], room, 100), 50);
	assert_sees(&middle, 2);
	shut(v);
}

/* One thread for all connections: a reply brings back what it belongs to. */
static void a_loop_of_events_goes_from_request_to_request(void **state)
{
	struct thread other;
	int a[2], b[2], up[2][2];

	(void)state;
	thread_begin(&other, &processes[0]);
	pair_watched(a, false, &client, &middle);
	pair_watched(b, false, &other, &middle);
	pair_watched(up[0], false, &middle, &back);
	pair_watched(up[1], false, &middle, &back);
	pack(&client, 1);
	pack(&other, 2);
	put(&client, a[0], room, 10);
	put(&other, b[0], room, 10);
	get(&middle, a[1], room, 100);
	put(&middle, up[0][0], room, 10);
	get(&middle, b[1], room, 100);
	put(&middle, up[1][0], room, 10);
	assert_sees(&middle, 2);
	get(&back, up[0][1], room, 100);
	assert_sees(&back, 1);
	pack(&back, 10);
	put(&back, up[0][1], room, 10);
	/* this one is answered by somebody who is not watched */
	assert_int_equal(recv(up[1][1], room, 100, 0), 10);
	assert_int_equal(send(up[1][1], room, 10, 0), 10);
	get(&middle, up[0][0], room, 100);
	assert_sees(&middle, 1, 10);
	put(&middle, a[1], room, 10);
	get(&middle, up[1][0], room, 100);
	assert_sees(&middle, 2);
	put(&middle, b[1], room, 10);
	get(&client, a[0], room, 100);
	get(&other, b[0], room, 100);
	assert_sees(&client, 1, 10);
	assert_sees(&other, 2);
	shut(a);
	shut(b);
	shut(up[0]);
	shut(up[1]);
}

static void connections_are_met_in_the_middle(void **state)
{
	int v[2];

	pair_made(v, false);
	assert_int_equal(send(v[0], room, 1234, 0), 1234);
	assert_int_equal(recv(v[1], room, 34, 0), 34);
	assert_int_equal(send(v[1], room, 77, 0), 77);
	pack(&client, 5);
	put(&client, v[0], room, 100);
	/* what was there before came with nothing */
	assert_int_equal(get(&middle, v[1], room, 1200), 1200);
	assert_sees_nothing(&middle);
	assert_int_equal(get(&middle, v[1], room, 200), 100);
	assert_sees(&middle, 5);
	pack(&middle, 6);
	put(&middle, v[1], room, 10);
	assert_int_equal(get(&client, v[0], room, 77), 77);
	assert_sees(&client, 5);
	assert_int_equal(get(&client, v[0], room, 77), 10);
	assert_sees(&client, 5, 6);
	shut(v);
	/* within the host the sender has to say where it is: nothing before, never something wrong
	 */
	tear_down(state);
	set_up(state);
	pair_made(v, true);
	assert_int_equal(send(v[0], room, 50, 0), 50);
	for (uint64_t i = 100; i < 105; i++) {
		uint64_t got[SEEN_MAX];
		size_t nr;

		begins(&client);
		pack(&client, i);
		put(&client, v[0], room, 50);
		assert_int_equal(get(&middle, v[1], room, i == 100 ? 100 : 50),
				 i == 100 ? 100 : 50);
		nr = sees(&middle, got);
		assert_true(nr <= 1 && (!nr || got[0] == i));
		assert_true(i == 100 || nr == 1);
		put(&middle, v[1], room, 5);
		get(&client, v[0], room, 5);
	}
	shut(v);
}

/* The sender is kept from going on when what it sent was read: whoever waits for it runs first. */
static ssize_t put_unfinished(struct thread *t, int fd, size_t n, struct courier *c)
{
	uint64_t a[6] = { (uint64_t)fd };

	*c = courier(t);
	assert_true(courier_enter(c, CARRY_OUT, a));
	return send(fd, room, n, MSG_NOSIGNAL);
}

static void put_finish(const struct courier *c, int fd, ssize_t n)
{
	uint64_t a[6] = { (uint64_t)fd };

	courier_leave(c, CARRY_OUT, a, n);
}

/* Whether nobody is given what is another's, from the second request on. */
static void requests_are_told_apart(const int *v)
{
	for (uint64_t i = 100; i < 110; i++) {
		uint64_t got[SEEN_MAX];
		size_t nr;

		begins(&client);
		pack(&client, i);
		put(&client, v[0], room, 50);
		assert_int_equal(get(&middle, v[1], room, 50), 50);
		nr = sees(&middle, got);
		assert_true(nr <= 1 && (!nr || got[0] == i));
		assert_true(i == 100 || nr == 1);
		put(&middle, v[1], room, 5);
		get(&client, v[0], room, 5);
	}
}

static void a_send_that_was_read_before_it_ended_is_not_counted_twice(void **state)
{
	struct courier c;
	int v[2];

	(void)state;
	/* read by a call that nobody saw; the next one is seen, and nothing waits there */
	pair_made(v, true);
	pack(&client, 1);
	assert_int_equal(put_unfinished(&client, v[0], 50, &c), 50);
	assert_int_equal(recv(v[1], room, 50, 0), 50);
	called(&middle, CARRY_IN, v[1], -1);
	put_finish(&c, v[0], 50);
	requests_are_told_apart(v);
	shut(v);
	/* read by a call that began when the sender counted otherwise */
	pair_watched(v, true, &client, &middle);
	requests_are_told_apart(v);
	processes[0].session++;
	begins(&client);
	pack(&client, 2);
	assert_int_equal(put_unfinished(&client, v[0], 50, &c), 50);
	get(&middle, v[1], room, 50);
	assert_sees_nothing(&middle);
	called(&middle, CARRY_IN, v[1], -1);
	put_finish(&c, v[0], 50);
	requests_are_told_apart(v);
	shut(v);
}

static void calls_that_passed_by_are_made_up_for(void **state)
{
	int v[2], w[2];

	(void)state;
	pair_watched(v, false, &client, &middle);
	pack(&client, 1);
	put(&client, v[0], room, 100);
	get(&middle, v[1], room, 100);
	/* a system call of its own */
	assert_int_equal(send(v[0], room, 10, 0), 10);
	usleep(600000);
	put(&client, v[0], room, 100);
	assert_int_equal(processes[0].counts.nr_corrected, 1);
	/* closed and opened again without a word */
	pair_made(w, false);
	dup2(w[0], v[0]);
	usleep(600000);
	put(&client, v[0], room, 30);
	get(&middle, w[1], room, 100);
	assert_sees(&middle, 1);
	assert_int_equal(processes[0].counts.nr_corrected, 2);
	shut(v);
	shut(w);
}

static void another_session_knows_nothing_of_the_one_before(void **state)
{
	int v[2];

	(void)state;
	pair_watched(v, false, &client, &middle);
	pack(&client, 1);
	put(&client, v[0], room, 100);
	get(&middle, v[1], room, 100);
	assert_int_equal(send(v[0], room, 10, 0), 10);
	assert_int_equal(recv(v[1], room, 10, 0), 10);
	processes[0].session = processes[1].session = 2;
	begins(&client);
	pack(&client, 2);
	put(&client, v[0], room, 100);
	get(&middle, v[1], room, 100);
	assert_sees(&middle, 2);
	shut(v);
}

/* --- a chain of three, at random ------------------------------------------------------------- */

#define CLIENTS 6
#define MESSAGE 64

/* A message: its length, whose it is, and what follows. */
struct message {
	uint32_t bytes, id;
};

struct end {
	int fd;
	size_t nr;
	char in[1 << 16];
};

struct chain {
	struct end down[CLIENTS], up[CLIENTS], last[CLIENTS];
	struct thread clients[CLIENTS], threads[CLIENTS], backs[CLIENTS];
	int fds[CLIENTS];
	uint32_t next, nr_right;
};

static void send_message(struct thread *t, int fd, uint32_t id)
{
	struct message m = { (uint32_t)sizeof(m) + (uint32_t)(rand() % MESSAGE), id };
	char bytes[sizeof(m) + MESSAGE] = { 0 };
	size_t at = 0, n;

	memcpy(bytes, &m, sizeof(m));
	for (; at < m.bytes; at += n) {
		n = rand() % 3 ? m.bytes - at : 1 + (size_t)rand() % (m.bytes - at);
		assert_int_equal(put(t, fd, bytes + at, n), n);
	}
}

/* Some bytes, if there are any; true when there is a whole message. */
static bool receive_some(struct thread *t, struct end *e)
{
	ssize_t n = get(t, e->fd, e->in + e->nr, 1 + (size_t)rand() % 200);

	e->nr += n > 0 ? (size_t)n : 0;
	return e->nr >= sizeof(struct message) && e->nr >= ((struct message *)e->in)->bytes;
}

static bool message_take(struct end *e, uint32_t *id)
{
	struct message m;

	memcpy(&m, e->in, sizeof(m));
	if (e->nr < sizeof(m) || e->nr < m.bytes)
		return false;
	*id = m.id;
	e->nr -= m.bytes;
	memmove(e->in, e->in + m.bytes, e->nr);
	return true;
}

/* What the last one in the chain sees of each request is what its client packed, exactly. */
static void back_turn(struct chain *c, size_t i)
{
	struct thread *t = &c->backs[i];
	uint64_t got[SEEN_MAX];
	uint32_t id;

	if (!receive_some(t, &c->last[i]))
		return;
	while (message_take(&c->last[i], &id)) {
		assert_int_equal(sees(t, got), 1);
		assert_int_equal(got[0], id);
		pack(t, 1000000 + id);
		send_message(t, c->last[i].fd, id);
		c->nr_right++;
	}
}

/* Waits for the reply before it answers. */
static void middle_turn(struct chain *c, size_t i)
{
	struct thread *t = &c->threads[i];
	uint64_t got[SEEN_MAX];
	uint32_t id, again;

	if (!receive_some(t, &c->down[i]))
		return;
	while (message_take(&c->down[i], &id)) {
		assert_int_equal(sees(t, got), 1);
		assert_int_equal(got[0], id);
		send_message(t, c->up[i].fd, id);
		while (!message_take(&c->up[i], &again)) {
			back_turn(c, i);
			receive_some(t, &c->up[i]);
		}
		assert_int_equal(again, id);
		assert_int_equal(sees(t, got), 2);
		send_message(t, c->down[i].fd, id);
	}
}

static void chain_begin(struct chain *c)
{
	for (size_t i = 0; i < CLIENTS; i++) {
		int a[2], b[2];

		thread_begin(&c->clients[i], &processes[0]);
		thread_begin(&c->threads[i], &processes[1]);
		thread_begin(&c->backs[i], &processes[2]);
		pair_watched(a, i % 2, &c->clients[i], &c->threads[i]);
		pair_watched(b, i % 3, &c->threads[i], &c->backs[i]);
		c->fds[i] = a[0];
		c->down[i].fd = a[1];
		c->up[i].fd = b[0];
		c->last[i].fd = b[1];
		for (int k = 0; k < 2; k++) {
			fcntl(a[k], F_SETFL, O_NONBLOCK);
			fcntl(b[k], F_SETFL, O_NONBLOCK);
		}
	}
}

static void each_request_of_a_chain_sees_what_its_client_packed(void **state)
{
	struct chain *c = mem_zalloc(sizeof(*c));

	(void)state;
	srand(3);
	chain_begin(c);
	for (int round = 0; round < 4000; round++) {
		size_t i = (size_t)rand() % CLIENTS;

		/* without waiting for replies to those before */
		if (rand() % 2)
			for (int k = rand() % 4; k > 0; k--) {
				begins(&c->clients[i]);
				pack(&c->clients[i], ++c->next);
				send_message(&c->clients[i], c->fds[i], c->next);
			}
		middle_turn(c, (size_t)rand() % CLIENTS);
		get(&c->clients[i], c->fds[i], room, sizeof(room));
	}
	assert_true(c->nr_right > 2000);
	assert_int_equal(processes[1].counts.nr_batched + processes[2].counts.nr_batched, 0);
	assert_true(processes[1].counts.nr_several > 100);
	for (size_t i = 0; i < CLIENTS; i++) {
		close(c->fds[i]);
		close(c->down[i].fd);
		close(c->up[i].fd);
		close(c->last[i].fd);
	}
	free(c);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

/* --- bytes that passed somebody by ------------------------------------------------------------ */

/* A request of its own length and bytes, and what the server sees of it. */
static void ask(int *v, uint64_t number)
{
	char bytes[200];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(number * 31 + i);
	begins(&client);
	pack(&client, number);
	assert_int_equal(put(&client, v[0], bytes, 40 + number), 40 + number);
	assert_int_equal(get(&middle, v[1], room, sizeof(room)), 40 + number);
}

static void answer(int *v)
{
	put(&middle, v[1], room, 10);
	get(&client, v[0], room, sizeof(room));
}

/* What is sent while nothing of the sender is seen, or by calls that pass us by, is not of the
 * request before. */
static void what_nobody_saw_sent_is_not_of_another_request(void **state)
{
	for (int local = 0; local < 2; local++) {
		int v[2];

		tear_down(state);
		set_up(state);
		pair_watched(v, local, &client, &middle);
		ask(v, 1);
		assert_sees(&middle, 1);
		answer(v);
		assert_int_equal(processes[1].counts.nr_doubted, 0);
		/* in two pieces: counted once */
		assert_int_equal(send(v[0], room, 33, 0), 33);
		assert_int_equal(get(&middle, v[1], room, 30), 30);
		assert_sees_nothing(&middle);
		assert_int_equal(get(&middle, v[1], room, sizeof(room)), 3);
		assert_sees_nothing(&middle);
		assert_int_equal(processes[1].counts.nr_doubted, 1);
		answer(v);
		/* the sender counts wrongly by now, which is seen by who reads; within the host who
		 * reads counts as the sender does */
		ask(v, 2);
		if (local)
			assert_sees(&middle, 2);
		else
			assert_sees_nothing(&middle);
		assert_int_equal(processes[1].counts.nr_doubted, local ? 1 : 2);
		answer(v);
		/* of TCP the kernel knows it: who is doubted has asked */
		if (!local) {
			ask(v, 3);
			answer(v);
			ask(v, 4);
			assert_sees(&middle, 4);
			assert_int_equal(processes[0].counts.nr_corrected, 1);
		}
		shut(v);
	}
}

/* The sender's watch wakes up: what it did not see is known to be unknown. */
static void what_was_sent_asleep_is_not_known_afterwards_either(void **state)
{
	for (int local = 0; local < 2; local++) {
		int v[2];

		tear_down(state);
		set_up(state);
		pair_watched(v, local, &client, &middle);
		ask(v, 1);
		answer(v);
		assert_int_equal(send(v[0], room, 33, 0), 33);
		processes[0].session++;
		begins(&client);
		pack(&client, 2);
		assert_int_equal(put(&client, v[0], room, 50), 50);
		assert_int_equal(get(&middle, v[1], room, 33), 33);
		assert_sees_nothing(&middle);
		answer(v);
		assert_int_equal(get(&middle, v[1], room, 50), 50);
		if (!local)
			assert_sees(&middle, 2);
		answer(v);
		ask(v, 3);
		assert_sees(&middle, 3);
		shut(v);
	}
}

/* A call that was seen to begin ends unseen; what is sent after it is another's. */
static void a_call_that_ends_asleep_is_all_that_is_known(void **state)
{
	const enum carry_call calls[] = { CARRY_OUT, CARRY_OUT_PARTS };

	for (int i = 0; i < 4; i++) {
		struct courier c;
		uint64_t a[6] = { 0, (uint64_t)room, 70 };
		int v[2];

		tear_down(state);
		set_up(state);
		pair_watched(v, i & 1, &client, &middle);
		begins(&client);
		pack(&client, 1);
		a[0] = (uint64_t)v[0];
		c = courier(&client);
		assert_true(courier_enter(&c, calls[i / 2], a));
		assert_int_equal(send(v[0], room, 70, 0), 70);
		assert_int_equal(get(&middle, v[1], room, 40), 40);
		assert_sees(&middle, 1);
		processes[0].session++;
		c = courier(&client);
		courier_asleep(&c, calls[i / 2], a, 70);
		assert_int_equal(get(&middle, v[1], room, 30), 30);
		assert_sees(&middle, 1);
		answer(v);
		assert_int_equal(send(v[0], room, 20, 0), 20);
		assert_int_equal(get(&middle, v[1], room, 20), 20);
		assert_sees_nothing(&middle);
		assert_int_equal(processes[1].counts.nr_doubted, 1);
		shut(v);
	}
}

/* A wrong position is planted at either end: what is found there is of other bytes. */
static void a_wrong_position_is_noticed(void **state)
{
	for (int i = 0; i < 4; i++) {
		int v[2];

		tear_down(state);
		set_up(state);
		pair_watched(v, false, &client, &middle);
		for (uint64_t k = 1; k <= 3; k++) {
			ask(v, k);
			assert_sees(&middle, k);
			answer(v);
		}
		if (i & 1)
			processes[0].fds[v[0]].s.out += i & 2 ? 43 : (uint64_t)-43;
		else
			processes[1].fds[v[1]].s.in += i & 2 ? 43 : (uint64_t)-43;
		ask(v, 4);
		/* who sends notices that itself */
		if (i & 1)
			assert_sees(&middle, 4);
		else
			assert_sees_nothing(&middle);
		assert_int_equal(processes[1].counts.nr_doubted, !(i & 1));
		answer(v);
		/* it was looked up */
		ask(v, 5);
		assert_sees(&middle, 5);
		assert_int_equal(processes[!(i & 1)].counts.nr_corrected, 1);
		shut(v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_request_and_its_reply),
		TEST(one_request_leaves_nothing_to_the_next),
		TEST(requests_in_one_read_are_taken_up_one_by_one),
		TEST(a_request_read_in_pieces_is_one),
		TEST(a_loop_of_events_goes_from_request_to_request),
		TEST(connections_are_met_in_the_middle),
		TEST(a_send_that_was_read_before_it_ended_is_not_counted_twice),
		TEST(calls_that_passed_by_are_made_up_for),
		TEST(another_session_knows_nothing_of_the_one_before),
		TEST(each_request_of_a_chain_sees_what_its_client_packed),
		TEST(what_nobody_saw_sent_is_not_of_another_request),
		TEST(what_was_sent_asleep_is_not_known_afterwards_either),
		TEST(a_call_that_ends_asleep_is_all_that_is_known),
		TEST(a_wrong_position_is_noticed),
	};

	return RUN(tests);
}
