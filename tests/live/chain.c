/*
 * A chain of processes in which every request carries its truth in its bytes: a client asks a
 * server, which asks the next one, and so on; each answers when it was answered.
 *
 *	chain serve AT [--to AT] [--by threads|loop|fork] [--cut]
 *	chain ask AT [--threads N] [--seconds S | --requests N] [--pipeline N] [--cut]
 *	          [--rate N [--open]] [--wait | --again]
 *
 * AT is a number (a port of 127.0.0.1), ADDRESS:PORT or a path (a socket of this host). --cut:
 * messages are sent and read in pieces of odd sizes. --rate: so many in a second of all threads;
 * --open: by the clock, whether those before are answered or not. --wait: begins after SIGUSR1;
 * --again: and once more after each.
 *
 * Every request passes request_begin(id) in the client and request_serve(id) in each server: places
 * to watch. At its end, on SIGTERM too, each says how many requests it has seen. The client ends
 * with 1 when an answer was not the one to its question. Of --requests it tells how long they took,
 * from when they were due.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROOM 65536
#define CONNECTIONS 1024
#define MESSAGE_MAX 200

struct message {
	uint32_t bytes, reserved;
	uint64_t id;
};

/* One end of a connection, and what was read of it. */
struct end {
	int fd, other; /* other: the connection that is asked for this one, or that asks */
	bool is_up;
	size_t nr;
	char in[ROOM];
};

struct settings {
	const char *at, *to, *by;
	bool cuts, waits, again, is_open, is_asking;
	int threads, pipeline;
	double seconds, rate; /* rate: requests in a second, of all threads */
	uint64_t requests;
};

static struct settings set = { .by = "threads", .threads = 1, .pipeline = 1, .seconds = 1 };
static uint64_t *nr_seen; /* shared by processes that are forked */
static volatile uint64_t sink;
static volatile sig_atomic_t is_over;

uint64_t request_begin(uint64_t id);
uint64_t request_serve(uint64_t id);

__attribute__((noinline)) uint64_t request_begin(uint64_t id)
{
	__asm__ volatile("" : : : "memory");
	sink = id;
	return id + 1;
}

__attribute__((noinline)) uint64_t request_serve(uint64_t id)
{
	__atomic_fetch_add(nr_seen, 1, __ATOMIC_RELAXED);
	return id + 1;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int address(const char *at, struct sockaddr_storage *to, socklen_t *n)
{
	struct sockaddr_in *in = (void *)to;
	struct sockaddr_un *un = (void *)to;
	char host[32];

	memset(to, 0, sizeof(*to));
	if (at[0] == '/') {
		un->sun_family = AF_UNIX;
		snprintf(un->sun_path, sizeof(un->sun_path), "%s", at);
		*n = sizeof(*un);
		return AF_UNIX;
	}
	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (sscanf(at, "%31[0-9.]:", host) == 1 && strchr(at, ':')) {
		inet_pton(AF_INET, host, &in->sin_addr);
		at = strchr(at, ':') + 1;
	}
	in->sin_port = htons((uint16_t)atoi(at));
	*n = sizeof(*in);
	return AF_INET;
}

static void at_once(int fd)
{
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
}

static int connected(const char *at)
{
	struct sockaddr_storage a;
	socklen_t n;
	int fd = socket(address(at, &a, &n), SOCK_STREAM | SOCK_CLOEXEC, 0);

	for (int i = 0; connect(fd, (void *)&a, n) < 0; i++) {
		if (i == 9000) { /* three minutes */
			perror("chain: connect");
			exit(2);
		}
		usleep(20000);
	}
	at_once(fd);
	return fd;
}

static int listening(const char *at)
{
	struct sockaddr_storage a;
	socklen_t n;
	int fd = socket(address(at, &a, &n), SOCK_STREAM | SOCK_CLOEXEC, 0);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	if (at[0] == '/')
		unlink(at);
	if (bind(fd, (void *)&a, n) < 0 || listen(fd, 512) < 0) {
		perror("chain: listen");
		exit(2);
	}
	return fd;
}

static size_t piece(uint64_t id, size_t at, size_t nr)
{
	size_t n = set.cuts ? 1 + (id * 7 + at * 3) % 61 : nr;

	return n < nr ? n : nr;
}

/* Of a length that its number tells. False when nobody is there. */
static bool message_send(int fd, uint64_t id)
{
	char bytes[MESSAGE_MAX] = { 0 };
	struct message m = { (uint32_t)(sizeof(m) + id % 150), 0, id };

	memcpy(bytes, &m, sizeof(m));
	for (size_t at = 0; at < m.bytes;) {
		ssize_t n = send(fd, bytes + at, piece(id, at, m.bytes - at), MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN)
			usleep(50);
		else if (n <= 0)
			return false;
		at += n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* More bytes of it: false at its end. */
static bool end_read(struct end *e)
{
	ssize_t n = read(e->fd, e->in + e->nr, set.cuts ? 1 + e->nr % 97 : ROOM - e->nr);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n <= 0)
		return false;
	e->nr += (size_t)n;
	return true;
}

static bool message_take(struct end *e, uint64_t *id)
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

static bool message_wait(struct end *e, uint64_t *id)
{
	while (!message_take(e, id))
		if (!end_read(e))
			return false;
	return true;
}

/* --- servers --------------------------------------------------------------------------------- */

/* One connection from its beginning to its end, with one of its own to the next server. */
static void *serve_one(void *arg)
{
	struct end *down = arg, *up = calloc(1, sizeof(*up));
	uint64_t id, again;

	up->fd = set.to ? connected(set.to) : -1;
	while (message_wait(down, &id)) {
		request_serve(id);
		if (up->fd >= 0 && (!message_send(up->fd, id) || !message_wait(up, &again)))
			break;
		if (up->fd >= 0 && again != id)
			abort();
		if (!message_send(down->fd, id))
			break;
	}
	close(down->fd);
	if (up->fd >= 0)
		close(up->fd);
	free(up);
	free(down);
	return NULL;
}

static void serve_threads(int l, bool forks)
{
	for (;;) {
		struct end *e = calloc(1, sizeof(*e));
		pthread_t t;

		e->fd = accept(l, NULL, NULL);
		if (e->fd < 0)
			continue;
		at_once(e->fd);
		if (!forks) {
			pthread_create(&t, NULL, serve_one, e);
			pthread_detach(t);
			continue;
		}
		if (fork() == 0) {
			close(l);
			serve_one(e);
			_exit(0);
		}
		close(e->fd);
		free(e);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}

static struct end *ends[CONNECTIONS];

static void loop_add(int poll, int fd, int other, bool is_up)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	at_once(fd);
	ends[fd] = calloc(1, sizeof(*ends[fd]));
	ends[fd]->fd = fd;
	ends[fd]->other = other;
	ends[fd]->is_up = is_up;
	epoll_ctl(poll, EPOLL_CTL_ADD, fd, &e);
}

static void loop_remove(int fd)
{
	int other = ends[fd]->other;

	free(ends[fd]);
	ends[fd] = NULL;
	close(fd);
	if (other >= 0 && ends[other]) {
		ends[other]->other = -1;
		loop_remove(other);
	}
}

/* Questions go on to the next server, or are answered; answers go back. Nobody is waited for. */
static void loop_turn(struct end *e)
{
	uint64_t id;

	if (!end_read(e)) {
		loop_remove(e->fd);
		return;
	}
	while (message_take(e, &id)) {
		if (!e->is_up)
			request_serve(id);
		message_send(e->other >= 0 ? e->other : e->fd, id);
	}
}

static void serve_loop(int l)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = l };
	int poll = epoll_create1(0);

	epoll_ctl(poll, EPOLL_CTL_ADD, l, &e);
	for (;;) {
		if (epoll_wait(poll, &e, 1, -1) != 1)
			continue;
		if (e.data.fd == l) {
			int fd = accept(l, NULL, NULL), up = set.to ? connected(set.to) : -1;

			if (fd < 0 || fd >= CONNECTIONS || up >= CONNECTIONS)
				abort();
			loop_add(poll, fd, up, false);
			if (up >= 0)
				loop_add(poll, up, fd, true);
		} else if (ends[e.data.fd]) {
			loop_turn(ends[e.data.fd]);
		}
	}
}

/* --- clients --------------------------------------------------------------------------------- */

struct asker {
	pthread_t thread;
	uint64_t number, nr_asked, nr_answered, nr_wrong;
	double start, until;
	struct end *end;
	double *due, *took; /* of each request; NULL: that is not told */
};

static bool question_send(struct asker *a, double due)
{
	uint64_t id = (a->number << 40) + a->nr_asked + 1;

	if (a->due)
		a->due[a->nr_asked] = due;
	a->nr_asked++;
	request_begin(id);
	return message_send(a->end->fd, id);
}

static bool answer_wait(struct asker *a)
{
	uint64_t id;

	if (!message_wait(a->end, &id))
		return false;
	if (a->took)
		a->took[a->nr_answered] = now() - a->due[a->nr_answered];
	a->nr_wrong += id != (a->number << 40) + a->nr_answered + 1;
	__atomic_store_n(&a->nr_answered, a->nr_answered + 1, __ATOMIC_RELEASE);
	return true;
}

static bool is_asking(const struct asker *a)
{
	return a->nr_asked < (set.requests ? set.requests : UINT64_MAX) && now() < a->until &&
	       !is_over;
}

/* So many at once, and the next when they are answered. */
static void ask_in_turn(struct asker *a)
{
	double due = now(), left;

	while (is_asking(a)) {
		for (int i = 0; i < set.pipeline; i++)
			if (!question_send(a, now()))
				return;
		for (int i = 0; i < set.pipeline; i++)
			if (!answer_wait(a))
				return;
		due += set.rate > 0 ? set.pipeline * set.threads / set.rate : 0;
		/* read once: what is below zero by now would be more than an hour */
		left = due - now();
		if (left > 0)
			usleep((useconds_t)(left * 1e6));
	}
}

static void *answers_read(void *arg)
{
	struct asker *a = arg;

	while (answer_wait(a))
		;
	return NULL;
}

/* By the clock; another thread reads the answers. */
static void ask_by_rate(struct asker *a)
{
	double step = set.threads / set.rate;
	pthread_t reader;

	pthread_create(&reader, NULL, answers_read, a);
	while (is_asking(a)) {
		double due = a->start +
			     step * ((double)a->nr_asked + (double)a->number / (double)set.threads);
		struct timespec t = { (time_t)due, (long)((due - (double)(time_t)due) * 1e9) };

		if (due > now())
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		if (!question_send(a, due))
			break;
	}
	while (__atomic_load_n(&a->nr_answered, __ATOMIC_ACQUIRE) < a->nr_asked && !is_over)
		usleep(100);
	/* the reader ends */
	shutdown(a->end->fd, SHUT_RDWR);
	pthread_join(reader, NULL);
}

static void *ask_one(void *arg)
{
	struct asker *a = arg;

	prctl(PR_SET_TIMERSLACK, 1);
	a->end = calloc(1, sizeof(*a->end));
	a->end->fd = connected(set.at);
	if (set.is_open)
		ask_by_rate(a);
	else
		ask_in_turn(a);
	close(a->end->fd);
	free(a->end);
	return NULL;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void signal_wait(void)
{
	sigset_t s;
	int got;

	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	if (set.waits)
		sigwait(&s, &got);
}

static int ask(void)
{
	struct asker *v = calloc((size_t)set.threads, sizeof(*v));
	size_t most = set.requests;
	double *due = calloc(most * (size_t)set.threads + 1, sizeof(*due));
	double *took = calloc(most * (size_t)set.threads + 1, sizeof(*took));
	uint64_t nr_asked = 0, nr_answered = 0, nr_wrong = 0;
	double start = (signal_wait(), now());

	for (int i = 0; i < set.threads; i++) {
		v[i] = (struct asker){ .number = (uint64_t)i + 1,
				       .start = start,
				       .until = set.requests ? 1e18 : start + set.seconds,
				       .due = most ? due + (size_t)i * most : NULL,
				       .took = most ? took + (size_t)i * most : NULL };
		pthread_create(&v[i].thread, NULL, ask_one, &v[i]);
	}
	for (int i = 0; i < set.threads; i++) {
		pthread_join(v[i].thread, NULL);
		nr_asked += v[i].nr_asked;
		nr_answered += v[i].nr_answered;
		nr_wrong += v[i].nr_wrong;
	}
	printf("asked %llu answered %llu wrong %llu per_second %.0f", (unsigned long long)nr_asked,
	       (unsigned long long)nr_answered, (unsigned long long)nr_wrong,
	       (double)nr_answered / (now() - start));
	if (most && nr_answered == most * (uint64_t)set.threads) {
		qsort(took, nr_answered, sizeof(*took), by_size);
		printf(" p50_us %.1f p99_us %.1f", took[nr_answered / 2] * 1e6,
		       took[nr_answered / 100 * 99] * 1e6);
	}
	printf("\n");
	fflush(stdout);
	free(v);
	free(due);
	free(took);
	return nr_wrong || nr_answered != nr_asked;
}

static void at_end(int signal)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "served %llu\n", (unsigned long long)*nr_seen);

	(void)signal;
	is_over = 1;
	if (set.is_asking)
		return;
	_exit(write(1, line, (size_t)n) != n);
}

static bool is_switch(const char *o)
{
	const struct {
		const char *name;
		bool *to;
	} all[] = { { "--cut", &set.cuts },
		    { "--wait", &set.waits },
		    { "--again", &set.again },
		    { "--open", &set.is_open } };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (strcmp(o, all[i].name) == 0) {
			*all[i].to = true;
			set.waits |= set.again;
			return true;
		}
	return false;
}

static void settings_read(int argc, char **argv)
{
	for (int i = 3; i < argc; i++) {
		const char *o = argv[i], *v = i + 1 < argc ? argv[i + 1] : "";

		if (is_switch(o))
			continue;
		i++;
		if (strcmp(o, "--to") == 0)
			set.to = v;
		else if (strcmp(o, "--by") == 0)
			set.by = v;
		else if (strcmp(o, "--threads") == 0)
			set.threads = atoi(v);
		else if (strcmp(o, "--pipeline") == 0)
			set.pipeline = atoi(v);
		else if (strcmp(o, "--rate") == 0)
			set.rate = atof(v);
		else if (strcmp(o, "--seconds") == 0)
			set.seconds = atof(v);
		else if (strcmp(o, "--requests") == 0)
			set.requests = strtoull(v, NULL, 10);
		else
			exit(2);
	}
}

int main(int argc, char **argv)
{
	struct sigaction end = { .sa_handler = at_end };
	sigset_t blocked = { 0 };

	if (argc < 3)
		return 2;
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	set.at = argv[2];
	settings_read(argc, argv);
	nr_seen = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	set.is_asking = strcmp(argv[1], "ask") == 0;
	sigaction(SIGTERM, &end, NULL);
	while (set.is_asking) {
		int wrong = ask();

		if (wrong || !set.again)
			return wrong;
	}
	signal(SIGPIPE, SIG_IGN);
	if (strcmp(set.by, "loop") == 0)
		serve_loop(listening(set.at));
	else
		serve_threads(listening(set.at), strcmp(set.by, "fork") == 0);
	return 0;
}
