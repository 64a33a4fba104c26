/* What the readers of pcap and pcapng share: where they stand, and the order of bytes. */
#ifndef CULPRIT_SOURCE_PCAP_FORMAT_H
#define CULPRIT_SOURCE_PCAP_FORMAT_H

#include "base/vec.h"
#include "source/packet_bytes.h"
#include "source/pcap.h"
#include "source/pcap_window.h"

#define PCAP_PACKET_BYTES_MAX ((uint64_t)16 << 20)
#define PCAPNG_SECTION 0x0a0d0d0a /* the same in both orders */
#define PCAPNG_ORDER 0x1a2b3c4d

struct pcap_interface {
	uint32_t link, snap;
	uint64_t units;   /* of time in a second … */
	int64_t offset_s; /* … and what to add to it */
};

struct pcap {
	struct window window;
	struct losses *losses;
	struct pcap_names names;
	bool is_ng, is_big;
	uint64_t number;
	int64_t last_ns;
	/* pcap */
	int64_t unit_ns;
	size_t record_head;
	uint32_t link;
	/* pcapng: of the section at hand */
	VEC(struct pcap_interface) interfaces;
};

static inline uint64_t pcap_number(const struct pcap *p, const char *at, unsigned n)
{
	return p->is_big ? bytes_be(at, n) : bytes_le(at, n);
}

/* The next packet of a pcapng file: 1, or 0 at the end. */
int pcapng_next(struct pcap *p, struct pcap_frame *f);

#endif
