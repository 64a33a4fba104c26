#include "bus/buslink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <zmq.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/time.h"
#include "bus/message.h"

#define WAITING_MAX 1000 /* messages for one that does not read */
/* The kernel finds out that the other host is gone. ZeroMQ's own heartbeats look for their timers
 * one by one, which took most of a hub's time with a thousand agents. */
#define BEAT_S 3
#define BEATS 3
#define AGAIN_MS 100
#define AGAIN_MAX_MS 3000
#define HANDSHAKE_MS 10000
#define ENDPOINT_MAX 256
#define LINKS_MAX 8 /* waited for at once */
#define ZAP "inproc://zeromq.zap.01"
#define ZAP_PARTS 8

struct bus_context {
	void *zmq;
};

struct buslink {
	void *zmq, *socket;
	void *zap;     /* asks who somebody is; of one that listens with keys */
	void *monitor; /* tells handshakes, and who has gone */
	bool owns_zmq, is_listening, is_keyed, is_met;
	char *dir; /* of the known ones */
	struct granted known;
	int64_t known_tick;
	zmq_msg_t from, body; /* of the last message */
	struct buslink_counts counts;
	char trouble[160];
};

bool buslink_is_there(void)
{
	return zmq_has("curve");
}

int buslink_keypair(char *public_key, char *secret_key, struct error *err)
{
	return zmq_curve_keypair(public_key, secret_key) < 0
		       ? error_set(err, errno, "cannot make keys: %s", zmq_strerror(errno))
		       : 0;
}

struct bus_context *bus_context_new(int nr_links)
{
	struct bus_context *c = mem_zalloc(sizeof(*c));

	c->zmq = zmq_ctx_new();
	/* each link has a monitor and the pair behind it, too */
	zmq_ctx_set(c->zmq, ZMQ_MAX_SOCKETS, 4 * nr_links + 64);
	return c;
}

void bus_context_free(struct bus_context *c)
{
	if (!c)
		return;
	zmq_ctx_term(c->zmq);
	free(c);
}

/* --- opening ------------------------------------------------------------------------------- */

static bool set_number(struct buslink *l, int option, int value)
{
	return !zmq_setsockopt(l->socket, option, &value, sizeof(value));
}

static bool set_text(struct buslink *l, int option, const char *value)
{
	return !zmq_setsockopt(l->socket, option, value, strlen(value));
}

static bool set_manners(struct buslink *l)
{
	int64_t bytes = MESSAGE_BYTES;

	return set_number(l, ZMQ_LINGER, 0) && set_number(l, ZMQ_SNDHWM, WAITING_MAX) &&
	       set_number(l, ZMQ_RCVHWM, WAITING_MAX) && set_number(l, ZMQ_IPV6, 1) &&
	       set_number(l, ZMQ_TCP_KEEPALIVE, 1) &&
	       set_number(l, ZMQ_TCP_KEEPALIVE_IDLE, BEAT_S) &&
	       set_number(l, ZMQ_TCP_KEEPALIVE_INTVL, BEAT_S) &&
	       set_number(l, ZMQ_TCP_KEEPALIVE_CNT, BEATS) &&
	       set_number(l, ZMQ_TCP_MAXRT, BEATS * BEAT_S * 1000) &&
	       set_number(l, ZMQ_RECONNECT_IVL, AGAIN_MS) &&
	       set_number(l, ZMQ_RECONNECT_IVL_MAX, AGAIN_MAX_MS) &&
	       set_number(l, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS) &&
	       set_number(l, ZMQ_BACKLOG, WAITING_MAX) &&
	       !zmq_setsockopt(l->socket, ZMQ_MAXMSGSIZE, &bytes, sizeof(bytes)) &&
	       (l->is_listening ? set_number(l, ZMQ_ROUTER_MANDATORY, 1)
				: set_number(l, ZMQ_IMMEDIATE, 1));
}

static bool set_keys(struct buslink *l, const struct bus_keys *k)
{
	if (!k)
		return true;
	l->is_keyed = true;
	if (l->is_listening)
		return set_number(l, ZMQ_CURVE_SERVER, 1) &&
		       set_text(l, ZMQ_CURVE_SECRETKEY, k->secret_key) &&
		       set_text(l, ZMQ_ZAP_DOMAIN, "culprit");
	return set_text(l, ZMQ_CURVE_PUBLICKEY, k->public_key) &&
	       set_text(l, ZMQ_CURVE_SECRETKEY, k->secret_key) &&
	       set_text(l, ZMQ_CURVE_SERVERKEY, k->hub_key);
}

/* Without a bound on what waits there: ZeroMQ's own thread, which carries all messages, stands
 * still while an event does not fit. They are taken whenever messages are. */
static bool open_monitor(struct buslink *l)
{
	const int unbounded = 0;
	uint64_t number;
	char name[64];

	/* a name that was used is free again only when ZeroMQ has closed all that had it */
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return false;
	snprintf(name, sizeof(name), "inproc://monitor-%llx", (unsigned long long)number);
	if (zmq_socket_monitor(
		    l->socket, name,
		    ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
			    ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_HANDSHAKE_SUCCEEDED |
			    ZMQ_EVENT_DISCONNECTED) < 0)
		return false;
	l->monitor = zmq_socket(l->zmq, ZMQ_PAIR);
	return l->monitor &&
	       !zmq_setsockopt(l->monitor, ZMQ_RCVHWM, &unbounded, sizeof(unbounded)) &&
	       !zmq_connect(l->monitor, name);
}

static int begin(struct buslink **to, struct bus_context *c, int kind, const struct bus_keys *keys,
		 struct error *err)
{
	struct buslink *l = mem_zalloc(sizeof(*l));

	l->is_listening = kind == ZMQ_ROUTER;
	l->owns_zmq = !c;
	l->zmq = c ? c->zmq : zmq_ctx_new();
	l->socket = l->zmq ? zmq_socket(l->zmq, kind) : NULL;
	zmq_msg_init(&l->from);
	zmq_msg_init(&l->body);
	if (!l->socket || !set_manners(l) || !set_keys(l, keys) || !open_monitor(l)) {
		int code = errno;

		buslink_close(l);
		return error_set(err, code, "cannot open a socket: %s", zmq_strerror(code));
	}
	*to = l;
	return 0;
}

/* tcp:// where no kind is said; whether it stays on this host. */
static int whole_endpoint(char *to, struct str text, bool *is_local, struct error *err)
{
	struct str rest = text, host;

	text = str_trim(text);
	rest = text;
	if (!text.n || text.n > ENDPOINT_MAX - 16)
		return error_set(err, EINVAL, "'" STR_FMT "' is no endpoint; write HOST:PORT",
				 STR_ARG(text));
	if (str_take(&rest, STR("ipc://"))) {
		snprintf(to, ENDPOINT_MAX, STR_FMT, STR_ARG(text));
		*is_local = true;
		return 0;
	}
	str_take(&rest, STR("tcp://"));
	if (!str_take_until(&rest, ':', &host) || !host.n || !rest.n)
		return error_set(err, EINVAL,
				 "'" STR_FMT "' is no endpoint; write HOST:PORT or ipc:///PATH",
				 STR_ARG(text));
	*is_local = str_starts(host, STR("127.")) || str_eq(host, STR("localhost")) ||
		    str_starts(text, STR("[::1]")) || str_starts(text, STR("tcp://[::1]"));
	snprintf(to, ENDPOINT_MAX, "%s" STR_FMT, str_starts(text, STR("tcp://")) ? "" : "tcp://",
		 STR_ARG(text));
	return 0;
}

static int check_endpoint(char *to, struct str text, const struct bus_keys *keys, struct error *err)
{
	bool is_local = false;
	int r = whole_endpoint(to, text, &is_local, err);

	if (!r && !keys && !is_local)
		return error_set(err, EPERM,
				 "'%s' is beyond this host and there are no keys: all would be "
				 "readable and anybody let in; give keys (--keys)",
				 to);
	return r;
}

int buslink_dial(struct buslink **to, struct bus_context *c, const char *endpoint,
		 const struct bus_keys *keys, struct error *err)
{
	char whole[ENDPOINT_MAX];
	struct buslink *l;
	int r = check_endpoint(whole, str_of(endpoint), keys, err);

	if (r < 0)
		return r;
	if (keys && !keys->hub_key[0])
		return error_set(err, EINVAL,
				 "these are the keys of a hub itself, not of one who "
				 "speaks to it");
	r = begin(&l, c, ZMQ_DEALER, keys, err);
	if (r < 0)
		return r;
	if (zmq_connect(l->socket, whole) < 0) {
		r = error_set(err, errno, "cannot connect to '%s': %s", whole, zmq_strerror(errno));
		buslink_close(l);
		return r;
	}
	*to = l;
	return 0;
}

static int bind_all(struct buslink *l, const char *endpoints, const struct bus_keys *keys,
		    struct error *err)
{
	struct str all = str_of(endpoints);
	char whole[ENDPOINT_MAX];
	int r = 0;

	while (!r && all.n) {
		size_t comma = str_find_char(all, ',');

		r = check_endpoint(whole, str_head(all, comma), keys, err);
		if (!r && zmq_bind(l->socket, whole) < 0)
			r = error_set(err, errno, "cannot listen on '%s': %s", whole,
				      zmq_strerror(errno));
		all = str_skip(all, comma + 1);
	}
	return r;
}

/* Before anybody connects there is who answers for his keys. */
static int open_zap(struct buslink *l, const struct bus_keys *keys, struct error *err)
{
	int r;

	if (!keys)
		return 0;
	if (!keys->dir)
		return error_set(err, EINVAL, "a hub's keys are a folder with 'known' in it");
	l->dir = mem_alloc(strlen(keys->dir) + 1);
	memcpy(l->dir, keys->dir, strlen(keys->dir) + 1);
	r = granted_refresh(&l->known, l->dir, err);
	if (r < 0)
		return r;
	l->zap = zmq_socket(l->zmq, ZMQ_REP);
	if (!l->zap || zmq_bind(l->zap, ZAP) < 0)
		return error_set(err, errno, "cannot check keys: %s", zmq_strerror(errno));
	return 0;
}

int buslink_listen(struct buslink **to, const char *endpoints, const struct bus_keys *keys,
		   struct error *err)
{
	struct buslink *l;
	int r = begin(&l, NULL, ZMQ_ROUTER, keys, err);

	if (r < 0)
		return r;
	r = open_zap(l, keys, err);
	if (!r)
		r = bind_all(l, endpoints, keys, err);
	if (r < 0)
		buslink_close(l);
	else
		*to = l;
	return r;
}

static void close_socket(void *socket)
{
	if (socket)
		zmq_close(socket);
}

void buslink_close(struct buslink *l)
{
	if (!l)
		return;
	zmq_msg_close(&l->from);
	zmq_msg_close(&l->body);
	if (l->socket && l->monitor)
		zmq_socket_monitor(l->socket, NULL, 0);
	close_socket(l->monitor);
	close_socket(l->zap);
	close_socket(l->socket);
	if (l->owns_zmq && l->zmq)
		zmq_ctx_term(l->zmq);
	granted_done(&l->known);
	free(l->dir);
	free(l);
}

/* --- who it is ----------------------------------------------------------------------------- */

/* The parts of one question (RFC 27): version, request, domain, address, identity, mechanism, key.
 */
static size_t take_parts(void *socket, char parts[][256], size_t *length)
{
	size_t nr = 0;
	int more = 1;
	size_t size = sizeof(more);

	while (more) {
		char spare[256];
		int n = zmq_recv(socket, nr < ZAP_PARTS ? parts[nr] : spare, 255, ZMQ_DONTWAIT);

		if (n < 0)
			return 0;
		if (nr < ZAP_PARTS) {
			length[nr] = n < 255 ? (size_t)n : 255;
			parts[nr][length[nr]] = 0;
			nr++;
		}
		zmq_getsockopt(socket, ZMQ_RCVMORE, &more, &size);
	}
	return nr;
}

static void answer_zap(struct buslink *l, const char *request, size_t length,
		       const char *public_key)
{
	bool is_known = public_key && granted_find(&l->known, public_key);
	const char *code = is_known ? "200" : "400", *user = is_known ? public_key : "";

	l->counts.nr_refused += !is_known;
	zmq_send(l->zap, "1.0", 3, ZMQ_SNDMORE);
	zmq_send(l->zap, request, length, ZMQ_SNDMORE);
	zmq_send(l->zap, code, 3, ZMQ_SNDMORE);
	zmq_send(l->zap, "", 0, ZMQ_SNDMORE);
	zmq_send(l->zap, user, strlen(user), ZMQ_SNDMORE);
	zmq_send(l->zap, "", 0, 0);
}

static void answer_all(struct buslink *l)
{
	char parts[ZAP_PARTS][256], text[KEY_TEXT];
	size_t length[ZAP_PARTS], nr;

	if (!l->zap)
		return;
	/* a list that is being edited is used as it was */
	if (time_tick() - l->known_tick > NS_S) {
		granted_refresh(&l->known, l->dir, NULL);
		l->known_tick = time_tick();
	}
	while ((nr = take_parts(l->zap, parts, length)) > 0) {
		bool is_key = nr >= 7 && !strcmp(parts[5], "CURVE") && length[6] == 32;

		granted_refresh(&l->known, l->dir, NULL);
		if (is_key)
			zmq_z85_encode(text, (const uint8_t *)parts[6], 32);
		answer_zap(l, nr > 1 ? parts[1] : "", nr > 1 ? length[1] : 0, is_key ? text : NULL);
	}
}

static void take_event(struct buslink *l, int event)
{
	if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
		l->trouble[0] = 0;
		l->is_met = true;
	} else if (event == ZMQ_EVENT_DISCONNECTED) {
		l->is_met = false;
	} else if (l->is_listening) {
		/* who is not known was counted when he asked */
		l->counts.nr_refused += event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL;
	} else {
		snprintf(l->trouble, sizeof(l->trouble), "%s",
			 event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH
				 ? "the hub does not know our key"
				 : "the hub and we do not use the same kind of keys, or its key is "
				   "another one than ours says");
	}
}

static void take_events(struct buslink *l)
{
	uint8_t frame[256];
	uint16_t event;

	while (l->monitor && zmq_recv(l->monitor, frame, sizeof(frame), ZMQ_DONTWAIT) >= 6) {
		memcpy(&event, frame, sizeof(event));
		zmq_recv(l->monitor, frame, sizeof(frame), ZMQ_DONTWAIT); /* the address */
		take_event(l, event);
	}
}

void buslink_counts(struct buslink *l, struct buslink_counts *c)
{
	take_events(l);
	*c = l->counts;
}

const char *buslink_trouble(struct buslink *l)
{
	take_events(l);
	return l->trouble;
}

bool buslink_is_met(struct buslink *l)
{
	take_events(l);
	return l->is_met;
}

/* --- messages ------------------------------------------------------------------------------ */

static int take_frame(struct buslink *l, zmq_msg_t *to)
{
	zmq_msg_close(to);
	zmq_msg_init(to);
	return zmq_msg_recv(to, l->socket, ZMQ_DONTWAIT);
}

static struct str frame_str(zmq_msg_t *m)
{
	return (struct str){ zmq_msg_data(m), zmq_msg_size(m) };
}

/* Of a message in more parts than we make nothing is used. */
static bool is_last(struct buslink *l, zmq_msg_t *m)
{
	zmq_msg_t rest;

	if (!zmq_msg_more(m))
		return true;
	zmq_msg_init(&rest);
	do
		if (zmq_msg_recv(&rest, l->socket, ZMQ_DONTWAIT) < 0)
			break;
	while (zmq_msg_more(&rest));
	zmq_msg_close(&rest);
	return false;
}

static int take_one(struct buslink *l, struct buslink_message *m)
{
	const char *user;

	*m = (struct buslink_message){ 0 };
	if (l->is_listening) {
		if (take_frame(l, &l->from) < 0)
			return 0;
		m->from = frame_str(&l->from);
		if (!zmq_msg_more(&l->from))
			return -EBADMSG;
	}
	if (take_frame(l, &l->body) < 0)
		return 0;
	if (!is_last(l, &l->body))
		return -EBADMSG;
	m->body = frame_str(&l->body);
	if (!l->zap)
		return 1;
	user = zmq_msg_gets(&l->body, "User-Id");
	m->who = user ? granted_find(&l->known, user) : NULL;
	l->counts.nr_refused += !m->who;
	return m->who ? 1 : -EACCES;
}

int buslink_take(struct buslink *l, struct buslink_message *m)
{
	int r;

	answer_all(l);
	do
		r = take_one(l, m);
	while (r < 0);
	if (!r)
		take_events(l);
	return r;
}

int buslink_send(struct buslink *l, struct str whom, struct str body)
{
	if (l->is_listening &&
	    zmq_send(l->socket, whom.p, whom.n, ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0) {
		l->counts.nr_full += errno == EAGAIN;
		return -errno;
	}
	if (zmq_send(l->socket, body.p, body.n, ZMQ_DONTWAIT) < 0)
		return -errno;
	return 0;
}

void buslink_wait(struct buslink *const *links, size_t nr, int timeout_ms)
{
	zmq_pollitem_t items[2 * LINKS_MAX] = { 0 };
	int n = 0;

	for (size_t i = 0; i < nr && i < LINKS_MAX; i++) {
		items[n++] = (zmq_pollitem_t){ .socket = links[i]->socket, .events = ZMQ_POLLIN };
		if (links[i]->zap)
			items[n++] =
				(zmq_pollitem_t){ .socket = links[i]->zap, .events = ZMQ_POLLIN };
	}
	zmq_poll(items, n, timeout_ms);
	for (size_t i = 0; i < nr; i++)
		answer_all(links[i]);
}

int buslink_fd(const struct buslink *l)
{
	int fd = -1;
	size_t size = sizeof(fd);

	zmq_getsockopt(l->socket, ZMQ_FD, &fd, &size);
	return fd;
}
