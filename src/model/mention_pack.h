/* Mentions as text without spaces in it but between its items, for one message to a hub: each
 * string stands in it once. What varies from message to message is told anew in each. */
#ifndef CULPRIT_MODEL_MENTION_PACK_H
#define CULPRIT_MODEL_MENTION_PACK_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/names.h"
#include "base/vec.h"
#include "model/loss.h"
#include "model/mention.h"

/*
 *	=text                        the next string, from 1 on; 0 is the empty one
 *	@level,file,node,thread,template,title,first,last,count
 *	:type,place,value            an identifier of the mention before
 *	!name,count                  what was lost
 *	~...                         of the writer for himself, passed over by the reader
 *
 * Numbers are hexadecimal, strings by number. first is told against that of the mention before,
 * last against first; "-" for no time.
 */
struct mention_packer {
	struct buf body;
	struct names strings;
	int64_t last_ns;
};

/* Zero is an empty one. */
void mention_packer_done(struct mention_packer *p);
/* Ready for the next message. */
void mention_packer_clear(struct mention_packer *p);
void mention_pack(struct mention_packer *p, const struct mention *m);
void mention_pack_loss(struct mention_packer *p, enum loss loss, uint64_t count);
/* A note of the writer, for himself. */
void mention_pack_note(struct mention_packer *p, struct str note);

struct mention_taker {
	struct str rest;
	struct arena arena; /* of the strings */
	VEC(struct str) strings;
	VEC(struct named) v;
	int64_t last_ns;
	struct losses losses; /* as told so far */
	uint64_t nr_losses_unknown;
};

/* The body is borrowed. */
void mention_taker_init(struct mention_taker *t, struct str body);
void mention_taker_done(struct mention_taker *t);
/* 1 filled, valid until the next call; 0 the end; -EBADMSG it makes no sense from here on. */
int mention_take(struct mention_taker *t, struct mention *m);
/* The next note from there on, and *body moved behind it. */
bool mention_take_note(struct str *body, struct arena *arena, struct str *note);

/* Text without bytes that a transport may change: what is not told as it is, as %XX. */
void mention_escape(struct buf *b, struct str text);
/* And back; false when it was not made by the above. */
bool mention_unescape(struct arena *arena, struct str text, struct str *back);

#endif
