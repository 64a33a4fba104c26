/* A request that was rebuilt, on its way to the store: at once, or as bytes from elsewhere. */
#ifndef CULPRIT_INFER_REQUESTS_FRAGMENT_H
#define CULPRIT_INFER_REQUESTS_FRAGMENT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/names.h"
#include "model/request.h"

struct arena;
struct error;
struct store;

struct fragment {
	struct request r;
	struct request_body body;
	uint32_t *operation; /* of each event: from 1, in the order in which they come */
	struct str why;      /* packed: model/why.h */
};

/* Adds it. Lines that are of a request already are left out if that is asked for, and a request of
 * which nothing is left then is not added. */
int fragment_store(struct fragment *f, struct store *s, bool skips_placed, struct error *err);

/* Several of them as bytes. Zero is a valid, empty one. */
struct packet {
	struct names said;
	struct buf bytes;
};
void packet_add(struct packet *p, const struct fragment *f);
void packet_clear(struct packet *p);
void packet_done(struct packet *p);
/* The next of them, which takes its bytes off *s: all that it holds is of the arena, or borrowed
 * from *s and *said, which is empty in front of the first. False when these are no such bytes. */
bool packet_take(struct str *s, struct names *said, struct arena *arena, struct fragment *f);

#endif
