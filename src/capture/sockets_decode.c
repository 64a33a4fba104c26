/*
 * What a program sends or receives on a socket is told like a packet that has the numbers which TCP
 * gives to the bytes, and of which only the front was captured. So all that is known of
 * connections, gaps and protocols (source/capture_packets.h) holds here, too, and a message has the
 * same id in a capture of packets.
 *
 * A message between two programs of this machine is seen twice. What the sender did counts: it
 * tells when the message was sent, and what a receiver gets is passed over up to where its sender
 * has come.
 */
#include "capture/sockets_decode.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/time.h"
#include "capture/sockets_order.h"
#include "model/sink.h"
#include "source/capture_packets.h"
#include "wire/socket_record.h"

#define WAITING_BYTES_MAX ((size_t)64 << 20)

struct sockets_decode {
	struct sink *sink;
	int64_t clock_ns;
	struct sockets_who *who;
	struct sockets_order *order;
	struct capture_packets *packets;
	uint64_t nr; /* records taken */
	int failure;
};

/* A record, with the two ends of its connection. */
struct act {
	const struct socket_record *r;
	struct endpoint local, remote;
	struct packet packet;
};

static void hand_on(struct sockets_decode *d, const struct packet *p)
{
	int r = capture_packets_take(d->packets, p, d->nr);

	if (r < 0)
		d->failure = r;
}

static enum packet_proto proto_of(const struct socket_record *r)
{
	return r->kind == SOCKET_UDP ? PACKET_UDP : PACKET_TCP;
}

static struct act act_of(struct sockets_decode *d, const struct socket_record *r)
{
	struct act a = { .r = r };
	bool is_from_local = r->act == SOCKET_SEND || r->act == SOCKET_CONNECTED;

	sockets_who_ends(d->who, r, &a.local, &a.remote);
	a.packet = (struct packet){ .ns = (int64_t)r->ns + d->clock_ns,
				    .proto = proto_of(r),
				    .from = is_from_local ? a.local : a.remote,
				    .to = is_from_local ? a.remote : a.local,
				    .ip_id = (uint32_t)d->nr, /* no datagram is a copy here */
				    .seq = r->seq,
				    .ack = r->ack };
	return a;
}

/* The reader learns who asked for the connection from the first packet of the one who did, or from
 * the answer to it. */
static void announce(struct sockets_decode *d, const struct act *a, bool is_local_client)
{
	bool is_from_client = (a->r->act == SOCKET_SEND) == is_local_client;
	struct packet p = a->packet;

	p.seq--;
	p.flags = is_from_client ? PACKET_SYN : PACKET_SYN | PACKET_ACK;
	hand_on(d, &p);
}

static void take_opened(struct sockets_decode *d, struct act *a)
{
	struct sockets_end *e = sockets_who_end(d->who, &a->local, &a->remote);

	e->is_told = true;
	a->packet.seq = (a->r->act == SOCKET_CONNECTED ? a->r->seq : a->r->ack) - 1;
	a->packet.flags = PACKET_SYN;
	hand_on(d, &a->packet);
}

/* Counts the bytes of a UNIX socket, which has no numbers, and tells the reader who the server is.
 */
static void number_unix(struct sockets_decode *d, struct act *a)
{
	struct sockets_end *other = sockets_who_end(d->who, &a->remote, &a->local);
	bool is_told = other->is_told;
	uint32_t ack = other->sent_until;
	struct sockets_end *e;

	other->is_told = true;
	e = sockets_who_end(d->who, &a->local, &a->remote);
	a->packet.seq = e->sent_until;
	a->packet.ack = ack;
	if (is_told || e->is_told)
		return;
	e->is_told = true;
	announce(d, a, !(a->r->flags & SOCKET_LISTENS));
}

/* A connection that was open before, whose ends are known by who listens. */
static void announce_old(struct sockets_decode *d, struct act *a)
{
	struct sockets_end *other = sockets_who_find(d->who, &a->remote, &a->local);
	struct sockets_end *e;

	if (other && other->is_told)
		return;
	e = sockets_who_end(d->who, &a->local, &a->remote);
	if (e->is_told)
		return;
	e->is_told = true;
	if (!e->is_server && !e->is_client)
		return; /* the reader finds out, and counts it */
	d->sink->losses->count[LOSS_STREAMS_MIDWAY]++;
	announce(d, a, e->is_client);
}

static void take_sent(struct sockets_decode *d, struct act *a, struct str payload)
{
	struct sockets_end *e;

	if (a->r->kind == SOCKET_UNIX)
		number_unix(d, a);
	else if (a->r->kind == SOCKET_TCP)
		announce_old(d, a);
	e = sockets_who_end(d->who, &a->local, &a->remote);
	e->has_sent = true;
	e->sent_until = a->packet.seq + a->r->bytes;
	e->tid = a->r->tid;
	a->packet.payload = payload;
	a->packet.missing = a->r->bytes - (uint32_t)payload.n;
	a->packet.flags = PACKET_ACK;
	hand_on(d, &a->packet);
}

/* Has the sender, who is on this machine, told of these bytes already. */
static bool is_told_by_sender(struct sockets_decode *d, const struct act *a)
{
	const struct sockets_end *sender = sockets_who_find(d->who, &a->remote, &a->local);

	if (!sender || !sender->has_sent)
		return false;
	return a->r->kind == SOCKET_UDP ||
	       (int32_t)(a->r->seq + a->r->bytes - sender->sent_until) <= 0;
}

static void take_received(struct sockets_decode *d, struct act *a, struct str payload)
{
	if (is_told_by_sender(d, a))
		return;
	if (a->r->kind == SOCKET_TCP)
		announce_old(d, a);
	a->packet.payload = payload;
	a->packet.missing = a->r->bytes - (uint32_t)payload.n;
	hand_on(d, &a->packet);
}

static void take(void *to, const struct socket_record *r, struct str payload)
{
	struct sockets_decode *d = to;
	struct act a;

	d->nr++;
	a = act_of(d, r);
	switch ((enum socket_act)r->act) {
	case SOCKET_SEND:
		take_sent(d, &a, payload);
		break;
	case SOCKET_RECEIVE:
		take_received(d, &a, payload);
		break;
	case SOCKET_CONNECTED:
	case SOCKET_ACCEPTED:
		take_opened(d, &a);
		break;
	case SOCKET_CLOSED:
		a.packet.flags = PACKET_RST;
		hand_on(d, &a.packet);
		break;
	}
}

int sockets_decode_new(struct sockets_decode **out, const struct sockets_setting *s,
		       struct sink *sink, struct error *err)
{
	struct sockets_decode *d = mem_zalloc(sizeof(*d));
	int r = capture_packets_new(&d->packets, s->source, s->file, sink, err);

	if (r < 0) {
		free(d);
		return r;
	}
	d->sink = sink;
	d->clock_ns = s->clock_ns;
	d->who = sockets_who_new(&s->listeners, s->own_netns);
	d->order = sockets_order_new(WAITING_BYTES_MAX, take, d);
	capture_packets_know(d->packets, &(struct capture_parties){ d->who, sockets_who_party });
	*out = d;
	return 0;
}

static bool is_sound(const struct socket_record *r, struct str payload)
{
	if (r->act < SOCKET_SEND || r->act > SOCKET_CLOSED || r->kind < SOCKET_TCP ||
	    r->kind > SOCKET_UNIX || r->ns > INT64_MAX / 2)
		return false;
	return payload.n == r->payload_bytes && payload.n <= r->bytes && r->bytes <= INT32_MAX;
}

/* Who opened a connection is known from here on; an older one between the same ends is over. */
static void begin(struct sockets_decode *d, const struct socket_record *r)
{
	struct endpoint local, remote;
	struct sockets_end *e;

	sockets_who_ends(d->who, r, &local, &remote);
	e = sockets_who_end(d->who, &local, &remote);
	*e = (struct sockets_end){ .end = local,
				   .other = remote,
				   .is_used = true,
				   .is_told = true,
				   .is_client = r->act == SOCKET_CONNECTED,
				   .is_server = r->act == SOCKET_ACCEPTED,
				   .netns = r->netns };
}

void sockets_decode_add(struct sockets_decode *d, struct str bytes)
{
	struct socket_record r;
	struct str payload = str_skip(bytes, sizeof(r));

	if (bytes.n < sizeof(r)) {
		d->sink->losses->count[LOSS_PACKETS_BROKEN]++;
		return;
	}
	memcpy(&r, bytes.p, sizeof(r));
	if (!is_sound(&r, payload)) {
		d->sink->losses->count[LOSS_PACKETS_BROKEN]++;
		return;
	}
	if (r.act == SOCKET_CONNECTED || r.act == SOCKET_ACCEPTED)
		begin(d, &r);
	else if (r.act != SOCKET_CLOSED)
		sockets_who_acts(d->who, &r);
	sockets_order_add(d->order, &r, payload);
}

int sockets_decode_until(struct sockets_decode *d, uint64_t ns)
{
	sockets_order_until(d->order, ns);
	return d->failure;
}

int sockets_decode_end(struct sockets_decode *d)
{
	int failure;

	sockets_order_free(d->order);
	failure = capture_packets_end(d->packets);
	sockets_who_free(d->who);
	failure = d->failure < 0 ? d->failure : failure;
	free(d);
	return failure;
}
