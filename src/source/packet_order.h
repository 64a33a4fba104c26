/* Brings packets that a capture has slightly out of order into the order of their times. */
#ifndef CULPRIT_SOURCE_PACKET_ORDER_H
#define CULPRIT_SOURCE_PACKET_ORDER_H

#include "source/pcap.h"

struct packet_order;

/* take gets each frame once; its bytes are valid for the call. */
struct packet_order *packet_order_new(void (*take)(void *to, const struct pcap_frame *f), void *to);
void packet_order_add(struct packet_order *o, const struct pcap_frame *f);
/* Hands out what is held, and frees. */
void packet_order_free(struct packet_order *o);

#endif
