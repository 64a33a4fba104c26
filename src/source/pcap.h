/* Reads the packets of a capture file, pcap or pcapng, one after the other. */
#ifndef CULPRIT_SOURCE_PCAP_H
#define CULPRIT_SOURCE_PCAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct error;
struct input;
struct losses;
struct pcap;

/* One packet as it was captured. */
struct pcap_frame {
	int64_t ns;          /* of the packet before where the file tells none */
	uint32_t link;       /* LINKTYPE number of its interface */
	uint32_t wire_bytes; /* its length on the wire, of which the capture may have less */
	uint64_t number;     /* counted from 1 */
	struct str bytes;    /* valid until the next one is asked for */
};

/* What a capture tells of names: the 4 or 16 bytes of an address, and a name for it. */
struct pcap_names {
	void *to;
	void (*name)(void *to, struct str address, struct str name);
};

/* Whether bytes that begin so are a capture. */
bool pcap_file_is(struct str head);

/* The input, losses and names are borrowed; names may be NULL. */
int pcap_file_open(struct pcap **p, struct input *in, const struct pcap_names *names,
		   struct losses *losses, struct error *err);
void pcap_file_close(struct pcap *p);
/* 1 = *f filled, 0 = the end, negative = failure. Damage is passed over and counted. */
int pcap_file_next(struct pcap *p, struct pcap_frame *f, struct error *err);

#endif
