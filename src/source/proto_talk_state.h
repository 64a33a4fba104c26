/* What a talk remembers; only the files proto_talk*.c look inside. */
#ifndef CULPRIT_SOURCE_PROTO_TALK_STATE_H
#define CULPRIT_SOURCE_PROTO_TALK_STATE_H

#include "base/buf.h"
#include "base/vec.h"
#include "source/proto.h"
#include "source/proto_talk.h"

#define MARKS 8

/* From this byte on, bytes came at this time. */
struct mark {
	uint32_t seq;
	int64_t ns;
};

struct open_call {
	uint64_t match, uid;
	unsigned from;
	struct trace *trace; /* owned; NULL for none */
};

struct talk_side {
	struct buf held; /* bytes of a message that is not whole */
	uint32_t seq;    /* of the first byte that is held, or of the next one */
	uint8_t nr_marks;
	bool is_lost; /* waits for the start of a message */
	struct mark marks[MARKS];
	uint64_t skip; /* bytes still to pass over */
	int64_t last_ns;
	struct message *pending; /* told when the bytes being passed over have come */
	bool has_answered; /* a gap stood for the answer: its end, if it comes, is no other one */
	bool is_by_turn;   /* … or when the other side speaks */
};

struct talk {
	const struct talk_sink *sink;
	struct endpoint end[2];
	int client; /* 0, 1, or -1 */
	bool is_datagram, is_sure_of_client;
	bool is_cut;
	const struct proto *proto, *becomes; /* NULL: not known yet; none */
	void *state;
	uint32_t notes[2];
	unsigned nr_guesses, nr_messages, nr_lost;
	struct talk_side side[2];
	unsigned at; /* the side that is parsed */
	int first;   /* the side that spoke first, while nothing is known */
	int64_t now; /* time of the first byte of the message that is parsed */
	uint64_t now_seq;
	uint64_t nr_calls; /* of datagrams, which have no numbers */
	VEC(struct open_call) calls;
};

/* The pending message of a side goes out, with this time. */
void talk_settle(struct talk *t, unsigned side, int64_t ns);
/* Calls that are answered in order cannot be paired any more. */
void talk_forget_ordered(struct talk *t);
void talk_calls_done(struct talk *t);

#endif
