#include "source/packet.h"

#include <arpa/inet.h>
#include <string.h>

#include "model/loss.h"
#include "source/packet_bytes.h"
#include "source/packet_fragments.h"
#include "source/pcap.h"

#define EXTENSIONS_MAX 16
#define TCP_HEAD_USUAL 32 /* with the times that most systems send along */
#define TCP_HEAD_OPENING 44

/* Protocols that IPv6 puts in front of the payload. */
enum extension {
	EXTENSION_HOPS = 0,
	EXTENSION_ROUTING = 43,
	EXTENSION_FRAGMENT = 44,
	EXTENSION_AUTH = 51,
	EXTENSION_OPTIONS = 60,
	EXTENSION_MOBILITY = 135,
	EXTENSION_HOST = 139,
	EXTENSION_SHIM = 140,
};

/* A network packet on its way to a payload. */
struct network {
	struct packet *p;
	unsigned proto;
	struct str payload;
	uint64_t whole; /* bytes that the payload had on the wire */
	bool is_fragment, is_last;
	uint32_t id, offset;
};

struct address address_of(struct str bytes)
{
	struct address a = { .b = { [10] = 0xff, [11] = 0xff } };

	if (bytes.n == 4)
		memcpy(a.b + 12, bytes.p, 4);
	else if (bytes.n == 16)
		memcpy(a.b, bytes.p, 16);
	return a;
}

static bool is_mapped(const struct address *a)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(a->b, mapped, sizeof(mapped));
}

void address_text(struct buf *b, const struct address *a)
{
	char text[INET6_ADDRSTRLEN] = "";

	if (is_mapped(a))
		inet_ntop(AF_INET, a->b + 12, text, sizeof(text));
	else
		inet_ntop(AF_INET6, a->b, text, sizeof(text));
	buf_add(b, str_of(text));
}

bool address_parse(struct str text, struct address *a)
{
	char z[INET6_ADDRSTRLEN], got[16];

	if (text.n >= sizeof(z))
		return false;
	memcpy(z, text.p, text.n);
	z[text.n] = 0;
	if (inet_pton(AF_INET, z, got) == 1)
		*a = address_of((struct str){ got, 4 });
	else if (inet_pton(AF_INET6, z, got) == 1)
		*a = address_of((struct str){ got, 16 });
	else
		return false;
	return true;
}

/*
 * The length says where the packet ends on the wire: what stands behind it is padding, what is
 * missing was cut off. Where the sender left it to the network card it is 0 and says nothing.
 */
static void take_rest(struct network *n, struct str rest, uint64_t whole)
{
	n->payload = str_head(rest, (size_t)whole);
	n->whole = whole;
}

static bool take_ipv4(struct network *n, struct str s, uint64_t wire)
{
	size_t head = (byte_at(s, 0) & 15) * 4u;
	uint64_t total;
	unsigned flags;

	if (head < 20 || s.n < head)
		return false;
	total = bytes_be(s.p + 2, 2);
	if (!total)
		total = wire;
	if (total < head)
		return false;
	flags = (unsigned)bytes_be(s.p + 6, 2);
	n->id = (uint32_t)bytes_be(s.p + 4, 2);
	n->offset = (flags & 0x1fff) * 8;
	n->is_last = !(flags & 0x2000);
	n->is_fragment = n->offset || !n->is_last;
	n->proto = byte_at(s, 9);
	n->p->from.address = address_of((struct str){ s.p + 12, 4 });
	n->p->to.address = address_of((struct str){ s.p + 16, 4 });
	take_rest(n, str_skip(s, head), total - head);
	return true;
}

static bool is_extension(unsigned proto)
{
	return proto == EXTENSION_HOPS || proto == EXTENSION_ROUTING || proto == EXTENSION_AUTH ||
	       proto == EXTENSION_OPTIONS || proto == EXTENSION_MOBILITY ||
	       proto == EXTENSION_HOST || proto == EXTENSION_SHIM || proto == EXTENSION_FRAGMENT;
}

/* Passes what stands in front of the payload; false when it does not end. */
static bool pass_extensions(struct network *n)
{
	for (unsigned i = 0; is_extension(n->proto) && !n->is_fragment; i++) {
		struct str s = n->payload;
		size_t bytes;

		if (s.n < 8 || i == EXTENSIONS_MAX)
			return false;
		bytes = n->proto == EXTENSION_AUTH ? (byte_at(s, 1) + 2u) * 4
						   : (byte_at(s, 1) + 1u) * 8;
		if (n->proto == EXTENSION_FRAGMENT) {
			unsigned place = (unsigned)bytes_be(s.p + 2, 2);

			bytes = 8;
			n->offset = place & 0xfff8;
			n->is_last = !(place & 1);
			n->is_fragment = n->offset || !n->is_last;
			n->id = (uint32_t)bytes_be(s.p + 4, 4);
		}
		if (s.n < bytes || n->whole < bytes)
			return false;
		n->proto = byte_at(s, 0);
		n->payload = str_skip(s, bytes);
		n->whole -= bytes;
	}
	return true;
}

static bool take_ipv6(struct network *n, struct str s, uint64_t wire)
{
	uint64_t whole;

	if (s.n < 40)
		return false;
	whole = bytes_be(s.p + 4, 2);
	if (!whole && wire > 40)
		whole = wire - 40;
	n->proto = byte_at(s, 6);
	n->p->from.address = address_of((struct str){ s.p + 8, 16 });
	n->p->to.address = address_of((struct str){ s.p + 24, 16 });
	take_rest(n, str_skip(s, 40), whole);
	return pass_extensions(n);
}

static void take_payload(struct packet *p, struct network *n, size_t head)
{
	p->payload = str_skip(n->payload, head);
	p->missing = (uint32_t)(n->whole - n->payload.n);
}

/*
 * Cut before the byte that tells how long the head is, as with IPv6 and 64 bytes of each packet:
 * who speaks, and nearly how much, is still there. What is no longer than the head of a packet that
 * opens a connection is taken to say nothing.
 */
static bool take_cut_tcp(struct packet *p, const struct network *n)
{
	struct str s = n->payload;

	if (s.n < 8 || n->whole <= s.n)
		return false;
	p->proto = PACKET_TCP;
	p->from.port = (uint16_t)bytes_be(s.p, 2);
	p->to.port = (uint16_t)bytes_be(s.p + 2, 2);
	p->seq = (uint32_t)bytes_be(s.p + 4, 4);
	p->missing = n->whole > TCP_HEAD_OPENING ? (uint32_t)n->whole - TCP_HEAD_USUAL : 0;
	return true;
}

static bool take_tcp(struct packet *p, struct network *n)
{
	struct str s = n->payload;
	size_t head;

	if (s.n < 14)
		return take_cut_tcp(p, n);
	head = (byte_at(s, 12) >> 4) * 4u;
	if (head < 20 || n->whole < head)
		return false;
	p->proto = PACKET_TCP;
	p->from.port = (uint16_t)bytes_be(s.p, 2);
	p->to.port = (uint16_t)bytes_be(s.p + 2, 2);
	p->seq = (uint32_t)bytes_be(s.p + 4, 4);
	p->ack = (uint32_t)bytes_be(s.p + 8, 4);
	p->flags = byte_at(s, 13);
	take_payload(p, n, head);
	if (s.n < head) /* cut within the options: the payload is missing from its first byte on */
		p->missing = (uint32_t)(n->whole - head);
	return true;
}

static bool take_udp(struct packet *p, struct network *n)
{
	struct str s = n->payload;
	uint64_t length;

	if (s.n < 8)
		return false;
	length = bytes_be(s.p + 4, 2);
	if (length >= 8 && length < n->whole)
		take_rest(n, s, length);
	p->proto = PACKET_UDP;
	p->from.port = (uint16_t)bytes_be(s.p, 2);
	p->to.port = (uint16_t)bytes_be(s.p + 2, 2);
	take_payload(p, n, 8);
	return true;
}

static bool refuse(struct losses *losses, enum loss why)
{
	losses->count[why]++;
	return false;
}

/* True when the packet is whole: it was no fragment, or the last one that was missing. */
static bool defragment(struct packet_fragments *fragments, struct network *n, struct losses *losses)
{
	struct fragment f = { n->p->from.address, n->p->to.address, n->id,     (uint8_t)n->proto,
			      n->offset,          n->is_last,       n->payload };

	if (!n->is_fragment)
		return true;
	if (n->payload.n < n->whole) /* a hole that nothing can fill */
		return refuse(losses, LOSS_FRAGMENTS_OPEN);
	if (!packet_fragments_add(fragments, &f, &n->payload, losses))
		return false;
	n->whole = n->payload.n;
	n->is_fragment = false;
	return pass_extensions(n) || refuse(losses, LOSS_PACKETS_BROKEN);
}

bool packet_of_frame(struct packet_fragments *fragments, const struct pcap_frame *f,
		     struct packet *p, struct losses *losses)
{
	struct network n = { .p = p, .is_last = true };
	struct str s;
	uint64_t wire;
	enum loss why = f->bytes.n < f->wire_bytes ? LOSS_PACKETS_CUT : LOSS_PACKETS_BROKEN;
	bool good;

	*p = (struct packet){ .ns = f->ns };
	if (!packet_of_link(f->link, f->bytes, &s) || !s.n)
		return refuse(losses, LOSS_PACKETS_OTHER);
	wire = f->wire_bytes - (f->bytes.n - s.n);
	good = byte_at(s, 0) >> 4 == 4 ? take_ipv4(&n, s, wire) : take_ipv6(&n, s, wire);
	if (!good)
		return refuse(losses, why);
	p->ip_id = n.id;
	if (!defragment(fragments, &n, losses))
		return false;
	if (n.proto != PACKET_TCP && n.proto != PACKET_UDP)
		return refuse(losses, LOSS_PACKETS_OTHER);
	good = n.proto == PACKET_TCP ? take_tcp(p, &n) : take_udp(p, &n);
	/* what is cut off behind the packet, as a check sum of the link, is no loss */
	losses->count[LOSS_PACKETS_CUT] += good && p->missing;
	return good || refuse(losses, why);
}
