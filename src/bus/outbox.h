/*
 * Reports on their way up: kept until the hub has them safe, sent again as they were where it is
 * not sure. While nobody takes them, those of one query are put together, so that room is bounded
 * by what a query's groups need and no total is ever wrong.
 */
#ifndef CULPRIT_BUS_OUTBOX_H
#define CULPRIT_BUS_OUTBOX_H

#include "base/buf.h"
#include "base/vec.h"

struct partial;

#define OUTBOX_FLYING 32 /* sent and not acknowledged; less than SEEN_WIDTH */
#define OUTBOX_WAITING 256

struct outgoing {
	uint64_t seq; /* given when it is sent first; 0 before */
	uint64_t query;
	int64_t from_ns, until_ns;
	int64_t sent_tick;
	bool is_sent; /* since the connection was made */
	struct buf bytes;
};

struct outbox {
	uint64_t epoch, next_seq;
	VEC(struct outgoing) v; /* those with a number first */
	size_t bytes, max_bytes;
	/* numbers are given by outbox_number alone, before the state is saved: after a fall the
	 * same reports have the same numbers */
	bool is_saved_first;
	uint64_t nr_joined, nr_dropped; /* reports put together, and emptied for want of room */
};

void outbox_init(struct outbox *o, uint64_t epoch, size_t max_bytes);
void outbox_done(struct outbox *o);
void outbox_add(struct outbox *o, uint64_t query, int64_t from_ns, int64_t until_ns,
		struct partial *seen);
/* The next one to be sent; NULL: none, or too many are on their way. It is taken as sent with
 * outbox_sent. */
struct outgoing *outbox_next(struct outbox *o);
/* Whether a report of the query was not sent yet. */
bool outbox_has(const struct outbox *o, uint64_t query);
void outbox_number(struct outbox *o);
void outbox_sent(struct outgoing *one, int64_t tick);
/* All up to there are safe. */
void outbox_ack(struct outbox *o, uint64_t epoch, uint64_t seq);
/* The connection is another one: what is not safe is sent again. */
void outbox_again(struct outbox *o);
/* When the oldest one that is on its way was sent; INT64_MAX: none is. */
int64_t outbox_oldest(const struct outbox *o);

#endif
