/*
 * pcapng: blocks of (type, length, body, length again). A section block tells the order of bytes of
 * all that follow, and forgets the interfaces of the section before. Blocks of kinds that are not
 * known are passed over, which the format asks for. Where a block cannot be, the next one is
 * searched for whose two lengths agree.
 */
#include "source/pcap_format.h"

#include "base/time.h"
#include "model/loss.h"

#define BLOCK_BYTES_MAX (PCAP_PACKET_BYTES_MAX + 65536)
#define INTERFACES_MAX 65536

enum block {
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET = 2, /* obsolete, still written by old programs */
	BLOCK_SIMPLE = 3,
	BLOCK_NAMES = 4,
	BLOCK_ENHANCED = 6,
};

enum option { OPTION_END = 0, OPTION_TSRESOL = 9, OPTION_TSOFFSET = 14 };

static bool take_number(const struct pcap *p, struct str *s, unsigned n, uint64_t *v)
{
	return p->is_big ? take_be(s, n, v) : take_le(s, n, v);
}

/* The next (code, value) of a list, which is padded to 32 bits. */
static bool take_option(const struct pcap *p, struct str *s, uint64_t *code, struct str *value)
{
	uint64_t n;

	if (!take_number(p, s, 2, code) || !take_number(p, s, 2, &n) || *code == OPTION_END ||
	    !take_part(s, n, value))
		return false;
	*s = str_skip(*s, (4 - n % 4) % 4);
	return true;
}

/* Units of time in a second; 0 for one that 64 bits do not hold. */
static uint64_t units_of(unsigned resolution)
{
	uint64_t units = 1;

	if (resolution & 0x80)
		return (resolution & 0x7f) < 64 ? (uint64_t)1 << (resolution & 0x7f) : 0;
	if (resolution > 19)
		return 0;
	for (unsigned i = 0; i < resolution; i++)
		units *= 10;
	return units;
}

static void take_interface(struct pcap *p, struct str body)
{
	struct pcap_interface it = { .units = 1000000 };
	uint64_t link, reserved, snap, code;
	struct str value;

	if (!take_number(p, &body, 2, &link) || !take_number(p, &body, 2, &reserved) ||
	    !take_number(p, &body, 4, &snap) || p->interfaces.nr >= INTERFACES_MAX) {
		p->losses->count[LOSS_PACKETS_BROKEN]++;
		return;
	}
	it.link = (uint32_t)link;
	it.snap = (uint32_t)snap;
	while (take_option(p, &body, &code, &value)) {
		if (code == OPTION_TSRESOL && value.n == 1)
			it.units = units_of(byte_at(value, 0));
		if (code == OPTION_TSOFFSET && value.n == 8)
			it.offset_s = (int64_t)pcap_number(p, value.p, 8);
	}
	vec_push(&p->interfaces, it);
}

static int64_t time_of(struct pcap *p, const struct pcap_interface *it, uint64_t stamp)
{
	__int128 ns;

	if (it->units) {
		ns = (__int128)stamp * NS_S / it->units + (__int128)it->offset_s * NS_S;
		if (ns >= 0 && ns <= INT64_MAX)
			return p->last_ns = (int64_t)ns;
	}
	p->losses->count[LOSS_TIME_RANGE]++;
	return p->last_ns;
}

static const struct pcap_interface *interface_of(const struct pcap *p, uint64_t i)
{
	return i < p->interfaces.nr ? &p->interfaces.v[i] : NULL;
}

/* Packets with a time: interface, time, captured and wire length, bytes. */
static bool take_timed(struct pcap *p, enum block type, struct str body, struct pcap_frame *f)
{
	uint64_t at, drops, high, low, captured, wire;
	const struct pcap_interface *it;

	if (type == BLOCK_PACKET) {
		if (!take_number(p, &body, 2, &at) || !take_number(p, &body, 2, &drops))
			return false;
	} else if (!take_number(p, &body, 4, &at)) {
		return false;
	}
	it = interface_of(p, at);
	if (!take_number(p, &body, 4, &high) || !take_number(p, &body, 4, &low) ||
	    !take_number(p, &body, 4, &captured) || !take_number(p, &body, 4, &wire) || !it ||
	    !take_part(&body, captured, &f->bytes))
		return false;
	f->wire_bytes = (uint32_t)(wire > captured ? wire : captured);
	f->link = it->link;
	f->ns = time_of(p, it, high << 32 | low);
	return true;
}

/* Simple packets are of the first interface and have no time: they get that of the one before. */
static bool take_simple(struct pcap *p, struct str body, struct pcap_frame *f)
{
	const struct pcap_interface *it = interface_of(p, 0);
	uint64_t wire, captured;

	if (!take_number(p, &body, 4, &wire) || !it)
		return false;
	captured = it->snap && wire > it->snap ? it->snap : wire;
	f->bytes = str_head(body, (size_t)captured);
	f->wire_bytes = (uint32_t)wire;
	f->link = it->link;
	f->ns = p->last_ns;
	p->losses->count[LOSS_PACKETS_NO_TIME]++;
	return true;
}

/* Records of (kind, length, address and names that each end with zero). */
static void take_names(struct pcap *p, struct str body)
{
	uint64_t kind;
	struct str value, name;

	while (p->names.name && take_option(p, &body, &kind, &value)) {
		size_t n = kind == 1 ? 4 : kind == 2 ? 16 : 0;
		struct str names = str_skip(value, n);

		if (n && value.n > n && str_take_until(&names, '\0', &name) && name.n)
			p->names.name(p->names.to, str_head(value, n), name);
	}
}

static bool take_order(struct pcap *p, struct str s)
{
	uint32_t order = s.n >= 12 ? (uint32_t)bytes_be(s.p + 8, 4) : 0;

	if (order != PCAPNG_ORDER && order != __builtin_bswap32(PCAPNG_ORDER))
		return false;
	p->is_big = order == PCAPNG_ORDER;
	return true;
}

/* The block at the front, if there can be one: its type and whole length. */
static bool block_at(struct pcap *p, struct str s, uint32_t *type, uint64_t *length)
{
	if (s.n < 12)
		return false;
	if (bytes_be(s.p, 4) == PCAPNG_SECTION && !take_order(p, s))
		return false;
	*type = (uint32_t)pcap_number(p, s.p, 4);
	*length = pcap_number(p, s.p + 4, 4);
	/* some writers leave the padding out of the length */
	*length += (4 - *length % 4) % 4;
	return *length >= 12;
}

static bool lengths_agree(struct pcap *p, struct str s)
{
	uint32_t type;
	uint64_t n;

	return block_at(p, s, &type, &n) && n <= s.n && n <= BLOCK_BYTES_MAX &&
	       pcap_number(p, s.p + n - 4, 4) == pcap_number(p, s.p + 4, 4);
}

/* To the next place where a block stands whose two lengths agree; false when there is none. */
static bool search(struct pcap *p)
{
	p->losses->count[LOSS_PACKETS_BROKEN]++;
	window_pass(&p->window, 4);
	for (;;) {
		struct str s = window_need(&p->window, (size_t)1 << 20);
		bool is_last = s.n < (size_t)1 << 20;
		size_t far = is_last ? s.n : s.n / 2, i = 0;

		while (i < far && !lengths_agree(p, str_skip(s, i)))
			i += 4;
		window_pass(&p->window, i);
		if (i < far)
			return true;
		if (is_last)
			return false;
	}
}

/* 1 = *f filled, 0 = another kind of block. */
static int take_block(struct pcap *p, uint32_t type, struct str body, struct pcap_frame *f)
{
	bool filled;

	switch (type) {
	case PCAPNG_SECTION:
		vec_clear(&p->interfaces);
		return 0;
	case BLOCK_INTERFACE:
		take_interface(p, body);
		return 0;
	case BLOCK_NAMES:
		take_names(p, body);
		return 0;
	case BLOCK_PACKET:
	case BLOCK_ENHANCED:
		filled = take_timed(p, type, body, f);
		break;
	case BLOCK_SIMPLE:
		filled = take_simple(p, body, f);
		break;
	default:
		return 0;
	}
	p->losses->count[LOSS_PACKETS_BROKEN] += !filled;
	return filled;
}

int pcapng_next(struct pcap *p, struct pcap_frame *f)
{
	for (;;) {
		struct str s = window_need(&p->window, 12);
		uint64_t n;
		uint32_t type;

		if (s.n < 12) {
			p->losses->count[LOSS_FILES_CUT] += s.n > 0 || p->window.is_damaged;
			return 0;
		}
		if (!block_at(p, s, &type, &n)) {
			if (!search(p))
				return 0;
			continue;
		}
		if (n > BLOCK_BYTES_MAX) { /* no packet is so long: a block of another kind */
			window_pass(&p->window, n);
			continue;
		}
		s = window_need(&p->window, (size_t)n);
		if (s.n < n) {
			p->losses->count[LOSS_FILES_CUT]++;
			return 0;
		}
		if (!lengths_agree(p, s)) {
			if (!search(p))
				return 0;
			continue;
		}
		p->window.at += n;
		if (take_block(p, type, (struct str){ s.p + 8, n - 12 }, f))
			return 1;
	}
}
