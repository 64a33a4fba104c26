/* Puts the bytes of one direction of a TCP connection in order, with the gaps that remain. */
#ifndef CULPRIT_SOURCE_TCP_H
#define CULPRIT_SOURCE_TCP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct losses;
struct tcp_piece;

/* Zero is a direction of which nothing was seen. */
struct tcp_side {
	bool is_started; /* next is known */
	bool is_acked;   /* the other side has told what it received: acked */
	uint32_t first;  /* the number of its first byte … */
	uint32_t next;   /* … and the number of the byte that comes next */
	uint32_t acked;
	uint32_t nr_held;
	uint32_t held_bytes;
	struct tcp_piece *held; /* what came early, in order */
};

struct tcp_segment {
	uint32_t seq;
	struct str bytes;
	uint32_t missing; /* bytes behind them that were sent but not captured */
	int64_t ns;
};

/* Who takes the bytes in order. */
struct tcp_reader {
	void *to;
	void (*bytes)(void *to, uint32_t seq, struct str bytes, int64_t ns);
	/* is_cut: the packet was there, but not all of its bytes. */
	void (*gap)(void *to, uint32_t seq, uint32_t nr, int64_t ns, bool is_cut);
};

/* The number of the first byte, from the handshake or the first packet seen. */
void tcp_start(struct tcp_side *s, uint32_t seq);
/* True when the segment belongs to another connection of the same name: far from this one. */
bool tcp_is_foreign(const struct tcp_side *s, uint32_t seq);
/* Of a handshake: does this number begin a connection, and not repeat how this one began. */
bool tcp_is_new(const struct tcp_side *s, uint32_t first);
void tcp_add(struct tcp_side *s, const struct tcp_segment *seg, const struct tcp_reader *r,
	     struct losses *losses);
/* What the other side tells of the bytes that it has got. */
struct tcp_receipt {
	uint32_t below; /* all of these: what is still missing here will not come */
	bool is_answer; /* told along with bytes of its own, which may answer these */
	int64_t ns;
};

void tcp_ack(struct tcp_side *s, const struct tcp_receipt *ack, const struct tcp_reader *r,
	     struct losses *losses);
/* Hands out what is held, gaps and all. */
void tcp_flush(struct tcp_side *s, const struct tcp_reader *r, struct losses *losses);
void tcp_done(struct tcp_side *s);

#endif
