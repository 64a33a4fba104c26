/*
 * What bytes of a connection carry with them from one watched process to another of the same host:
 * memory that all of them have mapped. Of connections to other hosts the agent reads here what it
 * hands over to the agent there.
 *
 * A record says what a sender carried when it sent the bytes from a position of its stream on; it
 * holds until the next record of that stream. Records lie one behind the other in a ring and are
 * never freed: newer ones take the place of the oldest. An index finds the newest of each stream,
 * and each has the one before it. Nobody waits for anybody; who is killed in the middle leaves
 * bytes that nobody finds. Whatever is read here was written by strangers, so that every record
 * says by sums over itself whether it is whole.
 */
#ifndef CULPRIT_WIRE_HANDOVER_H
#define CULPRIT_WIRE_HANDOVER_H

#include <stdint.h>

#define HANDOVER_NAME "culprit-handover"
#define HANDOVER_MAGIC 0x317265766f646e68u
#define HANDOVER_VERSION 3
#define HANDOVER_STREAMS 65536u                  /* a power of two */
#define HANDOVER_NEAR 8u                         /* places in which a stream may stand */
#define HANDOVER_LINE 64u                        /* records begin at multiples of it */
#define HANDOVER_BYTES_MAX 16384u                /* of what is carried */
#define HANDOVER_RING_BYTES ((uint64_t)16 << 20) /* small enough to stay in caches */
#define HANDOVER_HERE 128u                       /* addresses of this host */
#define HANDOVER_FARS 16384u /* streams of other hosts, either way; a power of two */

/* A line of the cache. */
struct handover_stream {
	uint64_t key;  /* never 0 */
	uint64_t last; /* the newest record; 0: none */
	uint64_t tick; /* when that was */
	uint64_t
		sent; /* 1 + bytes that the sender has sent, by its own count, and HANDOVER_SENDING;
			 0: it does not say. For connections whose system does not count. */
	uint64_t upto;  /* what the newest record holds for ends here: who reads what is behind it
			   has bytes that passed the sender's watch by */
	uint64_t since; /* from this position on all that is sent is known */
	uint64_t until; /* tick: afterwards the sender's watch may have slept, and sent be wrong */
	uint64_t is_doubted; /* who reads has found that the sender counts wrongly */
};
#define HANDOVER_SENDING ((uint64_t)1 << 63)
#define HANDOVER_NO_END UINT64_MAX

/* In front of each record's bytes. Behind them, at a multiple of 8, stands their sum. */
struct handover_head {
	uint64_t at;     /* bytes ever written in front of it: where it is, and its name */
	uint64_t key;    /* the stream */
	uint64_t start;  /* what is sent from this position on */
	uint64_t before; /* the record before it of this stream; 0: none */
	uint64_t origin; /* the request, as who began it has numbered it */
	uint64_t tick;
	uint32_t bytes; /* 0: from here on nothing is carried */
	uint32_t mark;  /* of the first bytes that are sent there (guest/mark.h); 0: not known */
	uint64_t sum;   /* over all that stands above */
};

/* An address, as of IPv6. */
struct handover_address {
	uint64_t high, low;
};

/* A stream between this host and another one. */
struct handover_far {
	uint64_t key;   /* never 0 */
	uint64_t nr;    /* another one when it begins anew */
	uint64_t since; /* the position from which on all that is sent is in the table */
	uint64_t tick;  /* when it was met last */
	struct handover_address peer;
	uint64_t is_out, reserved;
};

enum handover_reach {
	HANDOVER_ALONE,  /* nobody hands anything over to other hosts */
	HANDOVER_REACHES /* the agent does */
};

struct handover {
	uint64_t magic;
	uint32_t version, nr_streams;
	uint64_t ring_bytes; /* a power of two */
	uint64_t lives;      /* ticks after which a record counts no more */
	uint64_t reach;      /* enum handover_reach */
	uint64_t nr_here;    /* addresses of this host */
	uint64_t reserved[2];
	uint64_t head; /* bytes ever given out; alone in its line of the cache */
	uint64_t reserved_head[7];
	/* what was lost, and why */
	uint64_t nr_no_room, nr_too_long;
	uint64_t reserved_counts[6];
	struct handover_stream streams[HANDOVER_STREAMS];
	struct handover_address here[HANDOVER_HERE];
	struct handover_far fars[HANDOVER_FARS];
};
/* What became of it in a family of processes. */
struct carry_counts {
	uint64_t nr_sent, nr_received; /* without the last few of each thread */
	uint64_t nr_several;           /* came together with the one before in one read */
	uint64_t nr_batched;           /* of those, could not be told apart */
	uint64_t nr_gone;              /* were not there any more, or damaged */
	uint64_t nr_unplaced;          /* reads and writes whose position is not known */
	uint64_t nr_crossed;           /* two threads wrote at once */
	uint64_t nr_corrected;
	uint64_t nr_beyond;  /* descriptors with too high a number */
	uint64_t nr_not_put; /* no room in the table */
	uint64_t nr_guessed; /* of several, taken up when the one before was answered */
	uint64_t nr_foreign; /* requests of other hosts, where nobody hands over what they carry */
	uint64_t nr_doubted; /* reads of bytes that the sender does not know of, or other ones */
	uint64_t nr_unkept;  /* no memory for them in a virtual machine, or in a header */
	uint64_t nr_shared;  /* with objects of a virtual machine that are everybody's */
	uint64_t reserved[1];
};

/* Calls of the C library, by what they do. */
enum carry_call {
	CARRY_NOTHING,
	CARRY_OUT,       /* write, send, sendto: descriptor, bytes, how many */
	CARRY_OUT_PARTS, /* writev, sendmsg, sendfile: descriptor first */
	CARRY_OUT_MANY,  /* sendmmsg: its result does not tell bytes */
	CARRY_IN,        /* read: as write */
	CARRY_IN_PARTS,  /* readv */
	CARRY_IN_4,      /* recv, recvfrom: flags are its fourth argument */
	CARRY_IN_3,      /* recvmsg: the third */
	CARRY_IN_MANY,   /* recvmmsg */
	CARRY_SPLICE,    /* from the first to the third */
	CARRY_CLOSE,
	CARRY_OVER, /* dup2, dup3: the second is another one afterwards */
	CARRY_NEW,  /* socket, dup: the result is another one than before */
	CARRY_CONNECT,
	CARRY_ACCEPT,
	CARRY_PAIR, /* socketpair: two at the fourth argument */
	CARRY_PIPE, /* pipe, pipe2: two at the first */
	CARRY_NR,
};

/* The ring begins at the next page. */
#define HANDOVER_RING_AT ((sizeof(struct handover) + 4095) & ~(uint64_t)4095)

#endif
