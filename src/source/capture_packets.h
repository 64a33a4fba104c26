/* Packets, from a file or as they are captured, become the messages that programs sent. */
#ifndef CULPRIT_SOURCE_CAPTURE_PACKETS_H
#define CULPRIT_SOURCE_CAPTURE_PACKETS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct capture_packets;
struct endpoint;
struct error;
struct packet;
struct pcap_frame;
struct sink;
struct source_options;

/* Who is at one end of a connection, where more is known of it than its address. */
struct capture_party {
	struct str node, process;
	uint32_t pid, tid; /* tid: of the thread that spoke last; 0 where it is not known */
};

struct capture_parties {
	void *to;
	/* False: not known. Strings stay valid until the next call. */
	bool (*find)(void *to, const struct endpoint *end, const struct endpoint *other,
		     bool is_server, struct capture_party *party);
};

/*
 * Of the options, names and is_blind count. The file is the number that the sink gave to what the
 * packets come from; sink and err are borrowed until the end. Messages go to the sink as
 * EVENT_MESSAGE, in batches, while packets are added.
 */
int capture_packets_new(struct capture_packets **c, const struct source_options *o, uint32_t file,
			struct sink *sink, struct error *err);
/* What someone else tells of names: the 4 or 16 bytes of an address; the user's own go first. */
void capture_packets_name(struct capture_packets *c, struct str address, struct str name);
/* The user's own names go before these, too. */
void capture_packets_know(struct capture_packets *c, const struct capture_parties *parties);
/*
 * One packet (source/pcap.h: ns, link, wire_bytes, number counted from 1, bytes borrowed for the
 * call). Packets may be slightly out of order. Negative, from then on, when the sink failed.
 */
int capture_packets_add(struct capture_packets *c, const struct pcap_frame *frame);
/* The same, of a packet that is in its order and taken apart; number is shown to the user. */
int capture_packets_take(struct capture_packets *c, const struct packet *p, uint64_t number);
/* Tells what is still open, and frees. 0, or the failure of the sink. */
int capture_packets_end(struct capture_packets *c);

#endif
