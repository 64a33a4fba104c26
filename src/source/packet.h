/* One packet of TCP or UDP, taken out of the link and network layers around it. */
#ifndef CULPRIT_SOURCE_PACKET_H
#define CULPRIT_SOURCE_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct losses;
struct packet_fragments;
struct pcap_frame;

/* IPv6, or IPv4 in its mapped form (::ffff:a.b.c.d), so that both compare alike. */
struct address {
	uint8_t b[16];
};

/* One end of a connection. */
struct endpoint {
	struct address address;
	uint16_t port;
};

enum packet_proto { PACKET_TCP = 6, PACKET_UDP = 17 };

enum packet_flag { PACKET_FIN = 1, PACKET_SYN = 2, PACKET_RST = 4, PACKET_ACK = 16 };

struct packet {
	int64_t ns;
	enum packet_proto proto;
	struct endpoint from, to;
	uint32_t ip_id; /* 0 where there is none */
	/* TCP */
	uint32_t seq, ack;
	unsigned flags;
	struct str payload;
	uint32_t missing; /* bytes of the payload behind it that were not captured */
};

/* The fragments table is borrowed, and holds the bytes of packets that it put together. */
bool packet_of_frame(struct packet_fragments *fragments, const struct pcap_frame *f,
		     struct packet *p, struct losses *losses);

/* What a link type makes of a frame: the network packet inside, and the bytes cut off its end. */
bool packet_of_link(uint32_t link, struct str frame, struct str *network);

/* The 4 or 16 bytes of an address. */
struct address address_of(struct str bytes);
/* "10.0.0.1", "2001:db8::1". */
void address_text(struct buf *b, const struct address *a);
/* The whole text is an address. */
bool address_parse(struct str text, struct address *a);

#endif
