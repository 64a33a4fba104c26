/*
 * Bags over connections: what a thread carries goes with the bytes that it sends, and who reads
 * them carries it on. Without a change to a byte: see wire/handover.h.
 *
 * A server that reads a request carries what came with it instead of what it carried before; a
 * client that reads a reply adds what came back to what it carries, or, if it has turned to
 * something else meanwhile, takes up again what belongs to the reply. When several requests came
 * with one read, the second is taken up after the first was answered.
 *
 * What came from another host is not here yet: the bag gets a promise of it (lib/advice/promise.h).
 *
 * Whatever fails here means that nothing is carried, and is counted.
 */
#ifndef CULPRIT_CAPTURE_PROBE_GUEST_COURIER_H
#define CULPRIT_CAPTURE_PROBE_GUEST_COURIER_H

#include "capture/probe/guest/stream.h"
#include "lib/advice/promise.h"
#include "lib/advice/spill.h"

#define COURIER_FDS 16384u
#define COURIER_PENDING 16u

/* Of each descriptor of the process. Zero is one of which nothing is known. */
struct courier_fd {
	struct stream s;
	uint32_t session; /* in which all this was found out */
	uint32_t writer;  /* the thread that sends right now */
	uint32_t reader;  /* the thread that read last */
	uint8_t turn;     /* what was done last: enum courier_turn */
	uint8_t nr_pending;
	uint8_t is_batch;      /* requests are not answered one by one */
	uint8_t is_joined : 1; /* more than the current record was taken */
	uint8_t is_begun : 1;  /* somebody has said that the request begins */
	uint8_t is_next : 1;   /* … and more has come since, of another host: maybe the next one */
	uint64_t current;      /* the record of the request, or reply, that was begun; 0: none */
	uint64_t parked;       /* … and what became of it, while the thread is at another one */
	uint64_t taken;        /* the bag's order when it was taken */
	uint64_t seen;         /* the newest record that was taken or put into pending */
	uint64_t sent;         /* the record that holds for what is sent; 0: nothing is carried */
	uint64_t sent_origin, sent_order, sent_tick;
	union {
		/* records of requests that came with the one before */
		uint64_t pending[COURIER_PENDING];
		struct bag_promise promise; /* of another host: what was read last */
	};
};

/* What a thread has for it, beside its bag. Zero is valid. */
struct courier_state {
	uint64_t origin;  /* the request; 0: none that anybody else knows */
	uint32_t fd;      /* 1 + the descriptor that it read last */
	uint32_t request; /* 1 + the one that a request came by */
	uint32_t nr_origins;
	uint8_t is_due; /* it was answered: the next one that came with it is to be taken up */
	uint8_t reserved[3];
	uint32_t nr_sent, nr_received; /* told in larger numbers */
};

/* Where a bag is built before it is taken. */
struct courier_room {
	uint64_t bytes[BAG_BYTES / 8 + 1];
	struct bag bag;
};

struct courier {
	struct handover *table;
	struct courier_fd *fds; /* COURIER_FDS */
	struct carry_counts *counts;
	uint32_t session; /* what was found out in another one is not believed */
	uint64_t until;   /* tick: so long calls are surely seen */
	/* of the thread */
	uint32_t tid;
	struct bag *bag;
	struct bag_writer *writer;
	struct bag_spill *spill; /* for what finds no room in the bag, or NULL */
	struct bag_spill spill_room;
	struct courier_state *state;
	struct courier_room *room;
	uint64_t now;
	uint64_t time;     /* ns, as advice has it */
	const void *first; /* CARRY_OUT: what is to be sent, MARK_BYTES of it; NULL: not known */
};

/* Before and after a call of the process; a: its arguments. False: its end does not matter. */
bool courier_enter(const struct courier *c, enum carry_call call, const uint64_t *a)
	__attribute__((visibility("hidden")));
void courier_leave(const struct courier *c, enum carry_call call, const uint64_t *a, int64_t result)
	__attribute__((visibility("hidden")));
/* Its end was passed while nothing was seen (c has another session than before it): who reads what
 * comes later is told that nobody knows of it. */
void courier_asleep(const struct courier *c, enum carry_call call, const uint64_t *a,
		    int64_t result) __attribute__((visibility("hidden")));
/* Before advice runs: state->is_due says that there is something to do. */
void courier_settle(const struct courier *c) __attribute__((visibility("hidden")));
/* A request begins here, somebody says: what is carried is what came with it, or nothing. */
void courier_begin(const struct courier *c) __attribute__((visibility("hidden")));

#endif
