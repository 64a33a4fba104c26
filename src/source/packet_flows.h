/* The connections that packets belong to: found by their two ends, the least used ones forgotten.
 */
#ifndef CULPRIT_SOURCE_PACKET_FLOWS_H
#define CULPRIT_SOURCE_PACKET_FLOWS_H

#include "source/packet.h"
#include "source/tcp.h"

struct talk;

/* One connection of TCP, or all datagrams between two ends. */
struct flow {
	struct endpoint end[2]; /* in an order that does not depend on who speaks */
	enum packet_proto proto;
	bool is_closed;  /* what comes now is late */
	uint8_t nr_ends; /* sides that have said their last */
	struct tcp_side tcp[2];
	uint64_t last_hash[2]; /* of the last datagram, to notice copies … */
	int64_t last_ns[2];    /* … and when it came */
	struct talk *talk;     /* what is said; NULL before and after */
	struct flow *newer, *older, *chain;
};

struct flows;

/* At most max at once; forget is called for each that must go, before it is freed. */
struct flows *flows_new(size_t max, void (*forget)(void *to, struct flow *f), void *to);
void flows_free(struct flows *t); /* forgets all, the oldest first */
/* The flow of a packet, made when there is none; *side tells which end sends. */
struct flow *flows_get(struct flows *t, const struct packet *p, unsigned *side);
/* Forgets the least used one, but not the one that was got last; false when there is no other. */
bool flows_drop(struct flows *t);

#endif
