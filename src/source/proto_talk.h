/* What two ends say to each other: bytes in order become calls and returns. */
#ifndef CULPRIT_SOURCE_PROTO_TALK_H
#define CULPRIT_SOURCE_PROTO_TALK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "model/event.h"
#include "source/packet.h"
#include "source/proto_trace.h"

struct losses;
struct proto;
struct talk;

/* One message as a protocol tells it. Strings are borrowed for the call. */
struct message {
	uint64_t match;   /* ties a return to its call; 0: they come in order */
	struct str title; /* "GET /cart", "SELECT orders" */
	struct str text;  /* more of it, as it was sent; may be empty */
	uint64_t bytes;   /* of the whole message; 0 when it is not known yet */
	bool has_status;
	bool is_error;
	bool is_guess; /* only who speaks is known */
	int64_t status;
	struct trace trace;
	/* filled by the talk */
	enum message_op op;
	unsigned from; /* the side that sent it */
	int64_t ns;    /* its first byte for a call, its last for a return */
	uint64_t uid;  /* the same for a call and its return, and in every capture of them */
};

/* Who takes messages. */
struct talk_sink {
	void *to;
	void (*message)(void *to, const struct talk *t, const struct message *m);
	struct losses *losses;
	bool is_blind; /* looks for no trace headers */
};

/* Bytes that were sent and are not there. */
struct talk_missing {
	uint32_t seq, nr;
	int64_t ns;
	bool is_cut; /* of a packet that was captured, but not to its end */
};

/* client: which end opened the connection, or -1 when that was not seen. */
struct talk *talk_new(const struct talk_sink *sink, const struct endpoint end[2], int client,
		      bool is_datagram);
/* Tells what is still open, and frees. */
void talk_free(struct talk *t);

void talk_bytes(struct talk *t, unsigned side, uint32_t seq, struct str bytes, int64_t ns);
void talk_gap(struct talk *t, unsigned side, const struct talk_missing *m);
void talk_datagram(struct talk *t, unsigned side, struct str bytes, int64_t ns);

/* Bytes that wait for the rest of their message. */
size_t talk_held(const struct talk *t);

const char *talk_protocol(const struct talk *t);
const struct endpoint *talk_end(const struct talk *t, unsigned side);
/* The client's side, as far as is known now. */
unsigned talk_client(const struct talk *t);
/* A place for whoever takes messages to note a name for each side. */
uint32_t *talk_notes(struct talk *t);

/* For protocols, while they parse. */
void *talk_state(struct talk *t);
bool talk_is_client(const struct talk *t, unsigned side);
/* No more bytes of the message at hand will come: it is to be told by what is there of it. */
bool talk_is_cut(const struct talk *t);
/* May headers and payloads be searched for names of requests. */
bool talk_may_trace(const struct talk *t);
/* The side at hand asks, answers, or tells something that has no answer. */
void talk_call(struct talk *t, const struct message *m);
void talk_return(struct talk *t, const struct message *m);
void talk_sent(struct talk *t, const struct message *m);
/* By turns: the return is told when the other side speaks, with the time of the last byte. */
void talk_return_by_turn(struct talk *t, const struct message *m);
/* Is there an open call with this match that the side at hand can answer. */
bool talk_has_call(const struct talk *t, uint64_t match);
/* The oldest call that waits for an answer in order is from now on answered by this match. */
void talk_rematch(struct talk *t, uint64_t match);
/* Is the oldest open call that the side at hand can answer one with this match. */
bool talk_is_next(const struct talk *t, uint64_t match);
/* From the next byte on another protocol is spoken. */
void talk_become(struct talk *t, const struct proto *proto);

#endif
