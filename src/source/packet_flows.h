/* The connections that packets belong to: found by their two ends, the least used ones forgotten.
 */
#ifndef CULPRIT_SOURCE_PACKET_FLOWS_H
#define CULPRIT_SOURCE_PACKET_FLOWS_H

#include "source/packet.h"
#include "source/tcp.h"

struct talk;

enum flow_state {
	FLOW_NEW,
	FLOW_OPEN,
	FLOW_CLOSED, /* what comes now is late */
};

/* One connection of TCP, or all datagrams between two ends. */
struct flow {
	struct flow *chain;
	uint64_t hash;
	struct endpoint end[2]; /* in an order that does not depend on who speaks */
	uint8_t proto;          /* enum packet_proto */
	uint8_t state;          /* enum flow_state */
	uint8_t ends;           /* a bit for each side that has said its last */
	int8_t client;          /* the side that opened it; -1 when that was not seen */
	struct flow *newer, *older;
	struct talk *talk; /* what is said; NULL before the first bytes, and after the last */
	struct tcp_side tcp[2];
	uint64_t last_hash[2]; /* of the last datagram, to notice copies … */
	int64_t last_ns[2];    /* … and when it came */
};

struct flows;

/* At most max at once; forget is called for each that must go, before it is freed. */
struct flows *flows_new(size_t max, void (*forget)(void *to, struct flow *f), void *to);
void flows_free(struct flows *t); /* forgets all, the oldest first */
/* The flow of a packet, made when there is none; *side tells which end sends. */
struct flow *flows_get(struct flows *t, const struct packet *p, unsigned *side);
/* Closed ones are kept a little, to know what comes late, and are the first to go. */
void flows_close(struct flows *t, struct flow *f);
void flows_reopen(struct flows *t, struct flow *f);
/* Forgets the least used one, but not the one that was got last; false when there is no other. */
bool flows_drop(struct flows *t);

#endif
