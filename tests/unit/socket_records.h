/* Makes records as the kernel would, so that a test can say what programs did on their sockets. */
#ifndef CULPRIT_TESTS_SOCKET_RECORDS_H
#define CULPRIT_TESTS_SOCKET_RECORDS_H

#include <string.h>

#include "base/time.h"
#include "capture/sockets_decode.h"
#include "collected.h"
#include "wire/socket_record.h"

#define OWN_NETNS 7
#define CLOCK_NS 1000000000000

/* A program at one end; its other end is told with each act. */
struct program {
	const char *name;
	uint32_t tgid, tid, netns;
	const char *address;
	uint16_t port;
	uint32_t seq;
};

struct recording {
	struct sockets_decode *decode;
	struct collected seen;
	struct sink sink;
	uint64_t ns;
};

static inline void recording_begin_with(struct recording *r, const struct sockets_listeners *l)
{
	static const struct source_options options;
	const struct sockets_setting s = { .source = &options,
					   .listeners = *l,
					   .file = 1,
					   .own_netns = OWN_NETNS,
					   .clock_ns = CLOCK_NS };

	*r = (struct recording){ .ns = 1000 };
	r->sink = (struct sink){ .to = &r->seen,
				 .file = collected_file,
				 .events = collected_events,
				 .spans = collected_spans,
				 .losses = &r->seen.losses };
	assert_int_equal(sockets_decode_new(&r->decode, &s, &r->sink, &r->seen.err), 0);
}

static inline void recording_begin(struct recording *r)
{
	recording_begin_with(r, &(struct sockets_listeners){ 0 });
}

static inline void recording_end(struct recording *r)
{
	assert_int_equal(sockets_decode_end(r->decode), 0);
}

static inline void put_address(uint8_t to[16], const char *text)
{
	struct address a;

	assert_true(address_parse(str_of(text), &a));
	memcpy(to, a.b, sizeof(a.b));
}

static inline struct socket_record record_of(const struct program *p, const struct program *other,
					     enum socket_act act)
{
	struct socket_record rec = { .tgid = p->tgid,
				     .tid = p->tid ? p->tid : p->tgid,
				     .netns = p->netns ? p->netns : OWN_NETNS,
				     .kind = SOCKET_TCP,
				     .act = (uint8_t)act,
				     .local_port = p->port,
				     .remote_port = other->port };

	put_address(rec.local, p->address);
	put_address(rec.remote, other->address);
	strncpy((char *)rec.process, p->name ? p->name : "", sizeof(rec.process) - 1);
	return rec;
}

/* The record happened now; time goes on by a microsecond. */
static inline void put_record(struct recording *r, struct socket_record rec, const char *payload,
			      uint32_t bytes)
{
	char whole[sizeof(rec) + SOCKET_PAYLOAD_MAX];
	size_t n = payload ? strlen(payload) : 0;

	if (n > SOCKET_PAYLOAD_MAX)
		n = SOCKET_PAYLOAD_MAX;
	rec.ns = rec.ns ? rec.ns : r->ns;
	r->ns += 1000;
	rec.bytes = bytes;
	rec.payload_bytes = (uint32_t)n;
	memcpy(whole, &rec, sizeof(rec));
	if (n)
		memcpy(whole + sizeof(rec), payload, n);
	sockets_decode_add(r->decode, (struct str){ whole, sizeof(rec) + n });
}

static inline void put_send_of(struct recording *r, struct program *p, const struct program *to,
			       const char *text, uint32_t bytes)
{
	struct socket_record rec = record_of(p, to, SOCKET_SEND);

	rec.seq = p->seq;
	rec.ack = to->seq;
	p->seq += bytes;
	put_record(r, rec, text, bytes);
}

static inline void put_send(struct recording *r, struct program *p, const struct program *to,
			    const char *text)
{
	put_send_of(r, p, to, text, (uint32_t)strlen(text));
}

/* p gets what the other has sent last. */
static inline void put_receive(struct recording *r, const struct program *p,
			       const struct program *from, const char *text)
{
	struct socket_record rec = record_of(p, from, SOCKET_RECEIVE);

	rec.seq = from->seq - (uint32_t)strlen(text);
	rec.ack = p->seq;
	put_record(r, rec, text, (uint32_t)strlen(text));
}

/* In the kernel, of no process. */
static inline void put_state(struct recording *r, const struct program *p,
			     const struct program *other, enum socket_act act)
{
	struct socket_record rec = record_of(p, other, act);

	rec.tgid = rec.tid = 0;
	memset(rec.process, 0, sizeof(rec.process));
	rec.seq = p->seq;
	rec.ack = other->seq;
	put_record(r, rec, NULL, 0);
}

static inline void put_opened(struct recording *r, const struct program *client,
			      const struct program *server)
{
	put_state(r, client, server, SOCKET_CONNECTED);
	put_state(r, server, client, SOCKET_ACCEPTED);
}

#endif
