/* What stands in front of the network packet on every kind of link that is known. */
#include "source/packet.h"

#include "source/packet_bytes.h"

/* Numbers that the registry of link types gives, and those that systems write themselves. */
enum link {
	LINK_NULL = 0,
	LINK_ETHERNET = 1,
	LINK_PPP = 9,
	LINK_RAW_BSD = 12,
	LINK_RAW_OPENBSD = 14,
	LINK_PPP_HDLC = 50,
	LINK_PPPOE = 51,
	LINK_RAW = 101,
	LINK_LOOP = 108,
	LINK_COOKED = 113,
	LINK_IPV4 = 228,
	LINK_IPV6 = 229,
	LINK_COOKED2 = 276,
};

enum ether {
	ETHER_IPV4 = 0x0800,
	ETHER_IPV6 = 0x86dd,
	ETHER_VLAN = 0x8100,
	ETHER_QINQ = 0x88a8,
	ETHER_QINQ_OLD = 0x9100,
	ETHER_MPLS = 0x8847,
	ETHER_PPPOE = 0x8864,
};

#define TAGS_MAX 8

static bool is_ip(struct str s)
{
	return byte_at(s, 0) >> 4 == 4 || byte_at(s, 0) >> 4 == 6;
}

static bool of_ppp(struct str s, struct str *network)
{
	uint64_t kind;

	if (byte_at(s, 0) == 0xff) /* address and control, which links may leave out */
		s = str_skip(s, 2);
	if (!take_be(&s, 2, &kind))
		return false;
	*network = s;
	return kind == 0x0021 || kind == 0x0057;
}

static bool of_pppoe(struct str s, struct str *network)
{
	return of_ppp(str_skip(s, 6), network);
}

static bool of_mpls(struct str s, struct str *network)
{
	bool is_last = false;

	for (unsigned i = 0; i < TAGS_MAX && !is_last && s.n >= 4; i++) {
		is_last = byte_at(s, 2) & 1;
		s = str_skip(s, 4);
	}
	*network = s;
	return is_last && is_ip(s);
}

/* What an Ethernet type says that follows; tags of virtual networks may stand in between. */
static bool of_ether_type(uint64_t type, struct str s, struct str *network)
{
	uint64_t tag;

	for (unsigned i = 0; i < TAGS_MAX; i++) {
		switch (type) {
		case ETHER_IPV4:
		case ETHER_IPV6:
			*network = s;
			return true;
		case ETHER_VLAN:
		case ETHER_QINQ:
		case ETHER_QINQ_OLD:
			if (!take_be(&s, 2, &tag) || !take_be(&s, 2, &type))
				return false;
			break;
		case ETHER_MPLS:
			return of_mpls(s, network);
		case ETHER_PPPOE:
			return of_pppoe(s, network);
		default:
			return false;
		}
	}
	return false;
}

static bool of_ethernet(struct str s, struct str *network)
{
	uint64_t type;

	s = str_skip(s, 12);
	return take_be(&s, 2, &type) && of_ether_type(type, s, network);
}

static bool of_cooked(struct str s, struct str *network)
{
	uint64_t type;

	s = str_skip(s, 14);
	return take_be(&s, 2, &type) && of_ether_type(type, s, network);
}

static bool of_cooked2(struct str s, struct str *network)
{
	uint64_t type;

	return take_be(&s, 2, &type) && s.n >= 18 && of_ether_type(type, str_skip(s, 18), network);
}

/* A protocol family in the order of the machine, with numbers of its own: the packet tells more. */
static bool of_loopback(struct str s, struct str *network)
{
	*network = str_skip(s, 4);
	return is_ip(*network);
}

bool packet_of_link(uint32_t link, struct str frame, struct str *network)
{
	switch (link) {
	case LINK_ETHERNET:
		return of_ethernet(frame, network);
	case LINK_COOKED:
		return of_cooked(frame, network);
	case LINK_COOKED2:
		return of_cooked2(frame, network);
	case LINK_NULL:
	case LINK_LOOP:
		return of_loopback(frame, network);
	case LINK_PPP:
	case LINK_PPP_HDLC:
		return of_ppp(frame, network);
	case LINK_PPPOE:
		return of_pppoe(frame, network);
	case LINK_RAW:
	case LINK_RAW_BSD:
	case LINK_RAW_OPENBSD:
	case LINK_IPV4:
	case LINK_IPV6:
		*network = frame;
		return is_ip(frame);
	default:
		return false;
	}
}
