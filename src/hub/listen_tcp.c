/* Plain syslog over TCP: nobody is told that a message arrived, so what was in the network when
 * either side died is lost; the hub sees the gap. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "hub/frames.h"
#include "hub/hub.h"
#include "hub/listen_kind.h"

#define CONNECTIONS_MAX 1024
#define READ_BYTES ((size_t)64 << 10)

struct connection {
	int fd;
	struct frames frames;
	uint64_t nr_bad; /* as told to the hub */
};

struct tcp {
	struct hub *hub;
	pthread_t thread;
	int listening, wake[2];
	VEC(struct connection) connections;
	VEC(struct pollfd) polled;
	char *bytes;
};

static int listen_on(const struct listen_at *at, struct error *err)
{
	const struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICSERV,
					.ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	int r = getaddrinfo(*at->host ? at->host : NULL, at->port, &hints, &found);
	int fd = -1, on = 1;

	if (r)
		return error_set(err, EADDRNOTAVAIL, "%s", gai_strerror(r));
	for (struct addrinfo *i = found; i && fd < 0; i = i->ai_next) {
		fd = socket(i->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (fd < 0)
			continue;
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		if (bind(fd, i->ai_addr, i->ai_addrlen) || listen(fd, 64)) {
			r = errno;
			close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(found);
	return fd >= 0 ? fd : error_set(err, r ? r : EADDRNOTAVAIL, "%s", strerror(r));
}

static void drop(struct tcp *t, size_t i)
{
	struct connection *c = &t->connections.v[i];

	close(c->fd);
	frames_done(&c->frames);
	*c = t->connections.v[--t->connections.nr];
}

static void accept_one(struct tcp *t)
{
	int fd = accept4(t->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (t->connections.nr >= CONNECTIONS_MAX)
		close(fd);
	else
		vec_push(&t->connections, (struct connection){ .fd = fd });
}

/* False when the connection is at its end, or what came cannot be kept. */
static bool read_some(struct tcp *t, struct connection *c)
{
	ssize_t n = read(c->fd, t->bytes, READ_BYTES);
	struct str message;
	struct error err;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n <= 0)
		return false;
	frames_add(&c->frames, (struct str){ t->bytes, (size_t)n });
	while (frames_next(&c->frames, &message))
		if (hub_accept(t->hub, message, false, &err) < 0)
			return false;
	hub_refuse(t->hub, c->frames.nr_bad - c->nr_bad);
	c->nr_bad = c->frames.nr_bad;
	return true;
}

static void wait_for_any(struct tcp *t)
{
	vec_clear(&t->polled);
	vec_push(&t->polled, (struct pollfd){ .fd = t->wake[0], .events = POLLIN });
	vec_push(&t->polled, (struct pollfd){ .fd = t->listening, .events = POLLIN });
	vec_each (&t->connections, c)
		vec_push(&t->polled, (struct pollfd){ .fd = c->fd, .events = POLLIN });
	poll(t->polled.v, t->polled.nr, -1);
}

static void *serve(void *ctx)
{
	struct tcp *t = ctx;

	for (;;) {
		wait_for_any(t);
		if (t->polled.v[0].revents)
			return NULL;
		for (size_t i = t->connections.nr; i--;)
			if (t->polled.v[i + 2].revents && !read_some(t, &t->connections.v[i]))
				drop(t, i);
		if (t->polled.v[1].revents)
			accept_one(t);
	}
}

static void close_all(struct tcp *t)
{
	while (t->connections.nr)
		drop(t, t->connections.nr - 1);
	vec_done(&t->connections);
	vec_done(&t->polled);
	close(t->wake[0]);
	close(t->wake[1]);
	close(t->listening);
	free(t->bytes);
	free(t);
}

static int start(void **state, struct hub *h, const struct listen_at *at,
		 const struct listen_tls *tls, struct error *err)
{
	struct tcp *t;
	int fd;

	if (tls->cert)
		return error_set(err, EINVAL, "TLS is spoken over RELP only");
	fd = listen_on(at, err);
	if (fd < 0)
		return fd;
	t = mem_zalloc(sizeof(*t));
	t->hub = h;
	t->listening = fd;
	t->bytes = mem_alloc(READ_BYTES);
	if (pipe2(t->wake, O_CLOEXEC)) {
		int code = errno;

		close(fd);
		free(t->bytes);
		free(t);
		return error_set(err, code, "%s", strerror(code));
	}
	if (pthread_create(&t->thread, NULL, serve, t)) {
		close_all(t);
		return error_set(err, EAGAIN, "no thread is to be had");
	}
	*state = t;
	return 0;
}

static void stop(void *state)
{
	struct tcp *t = state;

	if (write(t->wake[1], "", 1) == 1)
		pthread_join(t->thread, NULL);
	close_all(t);
}

const struct listen_kind listen_tcp = { "tcp://", start, stop };
