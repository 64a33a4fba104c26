/* Puts fragmented packets together again, a bounded number of them at once. */
#ifndef CULPRIT_SOURCE_PACKET_FRAGMENTS_H
#define CULPRIT_SOURCE_PACKET_FRAGMENTS_H

#include "source/packet.h"

struct fragment {
	struct address from, to;
	uint32_t id;
	uint8_t proto;
	uint32_t offset; /* in bytes */
	bool is_last;
	struct str bytes;
};

struct packet_fragments *packet_fragments_new(void);
/* What was never completed is counted. */
void packet_fragments_free(struct packet_fragments *t, struct losses *losses);
/* True when this was the last one missing: *whole is the payload, valid until the next call. */
bool packet_fragments_add(struct packet_fragments *t, const struct fragment *f, struct str *whole,
			  struct losses *losses);

#endif
