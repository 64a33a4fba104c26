/* The message in which mentions travel: one line of syslog (RFC 5424) that says who sent it, the
 * how-manieth it is, and whether it is whole. */
#ifndef CULPRIT_MODEL_MENTION_WIRE_H
#define CULPRIT_MODEL_MENTION_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct arena;

#define WIRE_BYTES_MAX ((size_t)512 << 10) /* of a message; larger ones are refused */
#define WIRE_BODY_BYTES ((size_t)40 << 10) /* of a body that is full: one more mention fits */
#define WIRE_NAME_MAX 64                   /* bytes of an agent or boot */

/* Strings are borrowed. */
struct wire_head {
	struct str agent; /* tells hosts apart, whatever they are called */
	struct str boot;  /* of the machine that the agent runs on */
	struct str host;  /* as it calls itself */
	uint64_t seq;     /* from 1 on, without gaps */
	int64_t epoch_ns; /* when the epoch ended */
	uint32_t pid;
};

/* Without a line end. */
void wire_write(struct buf *b, const struct wire_head *h, struct str body);
/* 1 read; 0 some other message, or none; -EBADMSG one of ours that is cut or damaged. Headers that
 * relays put in front are passed over. */
int wire_read(struct str line, struct arena *arena, struct wire_head *h, struct str *body);

#endif
