/* Makes captures byte by byte, so that a test can say what was on the wire. */
#ifndef CULPRIT_TESTS_PACKETS_H
#define CULPRIT_TESTS_PACKETS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"

#define PACKETS_T0 1700000000

/* A capture that grows, and one connection in it. */
struct packets {
	struct buf file;
	uint32_t seq[2]; /* of the client, of the server */
	int64_t us;
	uint16_t port[2];
	uint32_t snap; /* bytes of each packet that are kept; 0: all */
	bool is_self;  /* both ends are 10.0.0.1 */
};

static inline void put_le(struct buf *b, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		buf_char(b, (char)(v >> 8 * i));
}

static inline void put_be(struct buf *b, uint64_t v, unsigned n)
{
	for (unsigned i = n; i > 0; i--)
		buf_char(b, (char)(v >> 8 * (i - 1)));
}

static inline void packets_file_head(struct packets *p, uint32_t link)
{
	put_le(&p->file, 0xa1b2c3d4, 4);
	put_le(&p->file, 2, 2);
	put_le(&p->file, 4, 2);
	put_le(&p->file, 0, 8);
	put_le(&p->file, 65535, 4);
	put_le(&p->file, link, 4);
}

static inline struct packets packets_begin(uint16_t server_port)
{
	struct packets p = { .seq = { 1000, 5000 }, .port = { 40000, server_port } };

	packets_file_head(&p, 1);
	return p;
}

static inline void packets_frame(struct packets *p, struct str frame)
{
	uint32_t kept = p->snap && p->snap < frame.n ? p->snap : (uint32_t)frame.n;

	put_le(&p->file, (uint64_t)(PACKETS_T0 + p->us / 1000000), 4);
	put_le(&p->file, (uint64_t)(p->us % 1000000), 4);
	put_le(&p->file, kept, 4);
	put_le(&p->file, frame.n, 4);
	buf_add(&p->file, str_head(frame, kept));
	p->us += 1000;
}

/* Ethernet and IPv4 around a payload; the client is 10.0.0.1, the server 10.0.0.2. */
static inline void put_ipv4(struct buf *b, unsigned from, unsigned proto, unsigned id,
			    unsigned place, size_t payload)
{
	buf_add(b, (struct str){ "\0\0\0\0\0\0\0\0\0\0\0\0\x08\0", 14 });
	put_be(b, 0x4500, 2);
	put_be(b, 20 + payload, 2);
	put_be(b, id, 2);
	put_be(b, place, 2);
	put_be(b, 64, 1);
	put_be(b, proto, 1);
	put_be(b, 0, 2);
	put_be(b, 0x0a000001 + from, 4);
	put_be(b, 0x0a000001 + !from, 4);
}

/* One segment with the number given, whatever was sent before. */
static inline void packets_tcp_at(struct packets *p, unsigned from, uint32_t seq, unsigned flags,
				  struct str data)
{
	struct buf b = { 0 };

	put_ipv4(&b, from, 6, 0, 0, 20 + data.n);
	if (p->is_self)
		memcpy(b.p + 26, "\x0a\0\0\1\x0a\0\0\1", 8);
	put_be(&b, p->port[from], 2);
	put_be(&b, p->port[!from], 2);
	put_be(&b, seq, 4);
	put_be(&b, p->seq[!from], 4);
	put_be(&b, 0x50, 1);
	put_be(&b, flags, 1);
	put_be(&b, 65535, 2);
	put_be(&b, 0, 4);
	buf_add(&b, data);
	packets_frame(p, buf_str(&b));
	buf_done(&b);
}

/* The next segment of a side: 0 the client, 1 the server. */
static inline void packets_say(struct packets *p, unsigned from, struct str data)
{
	packets_tcp_at(p, from, p->seq[from], 0x18, data);
	p->seq[from] += (uint32_t)data.n;
}

static inline void packets_open(struct packets *p)
{
	packets_tcp_at(p, 0, p->seq[0]++, 2, STR(""));
	packets_tcp_at(p, 1, p->seq[1]++, 18, STR(""));
}

static inline void packets_close(struct packets *p)
{
	packets_tcp_at(p, 0, p->seq[0]++, 17, STR(""));
	packets_tcp_at(p, 1, p->seq[1]++, 17, STR(""));
}

static inline void packets_udp(struct packets *p, unsigned from, unsigned id, struct str data)
{
	struct buf b = { 0 };

	put_ipv4(&b, from, 17, id, 0, 8 + data.n);
	put_be(&b, p->port[from], 2);
	put_be(&b, p->port[!from], 2);
	put_be(&b, 8 + data.n, 2);
	put_be(&b, 0, 2);
	buf_add(&b, data);
	packets_frame(p, buf_str(&b));
	buf_done(&b);
}

#endif
