/*
 * What watched processes of this host sent to others: read from the memory that they share, and
 * told to the agents there in the chunks that far_in.h tells of.
 */
#ifndef CULPRIT_CAPTURE_WEAVE_FAR_OUT_H
#define CULPRIT_CAPTURE_WEAVE_FAR_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "wire/handover.h"

struct far_in;

/* How far a stream was told. */
struct far_told {
	uint64_t key, nr, told;
	int64_t waits; /* tick since when a record waits for what it promises; 0: none does */
};

/* An address of another host, and what is about to be sent there. */
struct far_target {
	struct handover_address to;
	struct buf bytes;
	struct {
		size_t told; /* a place in far_out.told */
		uint64_t to;
	} advances[64];
	size_t nr_advances;
	bool is_refused; /* in this round */
	int64_t first, sent,
		named; /* ticks: when tried first, last; when our addresses were said */
};

/* Zero is empty. */
struct far_out {
	VEC(struct far_told) told;
	struct map by_key; /* 1 + place in told */
	VEC(struct far_target) targets;
	struct map by_address; /* 1 + place in targets */
	uint64_t nr_sent;      /* messages */
	uint64_t nr_refused;   /* … that could not be sent, and are tried again */
	uint64_t nr_gaps;      /* stretches of streams of which the table had lost the records */
	uint64_t nr_late;      /* records that wait in vain for what they promise */
};

/* Hands a message over; negative: not now. */
typedef int far_send(void *ctx, struct str to, struct str bytes);

void far_out_done(struct far_out *o);
void far_out_collect(struct far_out *o, struct handover *table, struct far_in *in, far_send *send,
		     void *ctx, int64_t tick);

/* As bus addresses are written: "10.1.2.3", "2001:db8::1". */
#define FAR_ADDRESS_TEXT 48
void far_address_text(const struct handover_address *a, char to[FAR_ADDRESS_TEXT]);

#endif
