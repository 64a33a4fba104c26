/* Packets, from a file or as they are captured, become the messages that programs sent. */
#ifndef CULPRIT_SOURCE_CAPTURE_PACKETS_H
#define CULPRIT_SOURCE_CAPTURE_PACKETS_H

#include <stdint.h>

#include "base/str.h"

struct capture_packets;
struct error;
struct pcap_frame;
struct sink;
struct source_options;

/*
 * Of the options, names and is_blind count. The file is the number that the sink gave to what the
 * packets come from; sink and err are borrowed until the end. Messages go to the sink as
 * EVENT_MESSAGE, in batches, while packets are added.
 */
int capture_packets_new(struct capture_packets **c, const struct source_options *o, uint32_t file,
			struct sink *sink, struct error *err);
/* What someone else tells of names: the 4 or 16 bytes of an address; the user's own go first. */
void capture_packets_name(struct capture_packets *c, struct str address, struct str name);
/*
 * One packet (source/pcap.h: ns, link, wire_bytes, number counted from 1, bytes borrowed for the
 * call). Packets may be slightly out of order. Negative, from then on, when the sink failed.
 */
int capture_packets_add(struct capture_packets *c, const struct pcap_frame *frame);
/* Tells what is still open, and frees. 0, or the failure of the sink. */
int capture_packets_end(struct capture_packets *c);

#endif
