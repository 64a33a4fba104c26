/* One application protocol: how the messages on a connection are told apart, and what they ask. */
#ifndef CULPRIT_SOURCE_PROTO_H
#define CULPRIT_SOURCE_PROTO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct talk;

#define PROTO_MORE 0        /* not whole yet: the same again with more bytes */
#define PROTO_LOST -1       /* these bytes are no message */
#define PROTO_ALL INT64_MAX /* all that comes until the connection ends */

/*
 * Adding a protocol is one file proto_<name>.c with one such constant, and a line in the table of
 * proto.c.
 */
struct proto {
	const char *name;
	uint16_t ports[6];  /* where it usually is; ends with 0 */
	size_t state_bytes; /* of what it remembers, zeroed at the start */
	bool is_by_turn;    /* it reads no content: a gap is as good as bytes */
	/* How sure, 0..100, that a message which begins with these bytes is of this protocol, sent
	 * by the client or the server. 60 is taken without asking for the port. */
	int (*looks)(struct str bytes, bool from_client);
	/*
	 * The front of what one side says. Answers with the bytes of one message (which may be more
	 * than are there yet: the rest is passed over) or with one of the above. Calls and returns
	 * are told to the talk (proto_talk.h) before it answers.
	 */
	int64_t (*parse)(struct talk *t, unsigned side, struct str bytes);
	/* Something was missed on this side; may be NULL. */
	void (*lose)(struct talk *t, unsigned side);
	/* The side says no more; what it had begun can still be told; may be NULL. */
	void (*end)(struct talk *t, unsigned side);
	void (*done)(void *state); /* may be NULL */
};

extern const struct proto proto_amqp;
extern const struct proto proto_dns;
extern const struct proto proto_dns_tcp;
extern const struct proto proto_dubbo;
extern const struct proto proto_http1;
extern const struct proto proto_http2;
extern const struct proto proto_kafka;
extern const struct proto proto_memcached;
extern const struct proto proto_memcached_binary;
extern const struct proto proto_mongo;
extern const struct proto proto_mqtt;
extern const struct proto proto_mysql;
extern const struct proto proto_nats;
extern const struct proto proto_pgsql;
extern const struct proto proto_plain;
extern const struct proto proto_redis;
extern const struct proto proto_tls;

#define PROTO_SURE 60

/* What two ends may speak, judged by the first bytes of one of them. */
struct proto_guess {
	const struct proto *proto; /* NULL: none that is known */
	bool from_client;          /* who sent the bytes */
	int sure;
};

/* from and to are ports; is_client: 1 the sender is the client, 0 the server, -1 not known. */
struct proto_guess proto_guess(struct str bytes, bool is_datagram, uint16_t from, uint16_t to,
			       int is_client);
/* The side that is the server, where only the ports tell: 0, 1, or -1. */
int proto_server_of_ports(uint16_t first, uint16_t second);

#endif
