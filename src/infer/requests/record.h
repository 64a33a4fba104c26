/* Events of logs as lines of text that an engine can carry and sort: what the map step says to the
 * reduce step (docs/HOWTO-distributed.md). */
#ifndef CULPRIT_INFER_REQUESTS_RECORD_H
#define CULPRIT_INFER_REQUESTS_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct arena;
struct error;
struct event;
struct losses;
struct record_column;

/* Sorts bytewise into the order of the files: the same letters for every key. */
struct record_key {
	uint32_t file;
	uint64_t part; /* where the engine says that the part of the file begins */
	uint32_t nr;   /* in the part, from 0 */
};
enum { RECORD_KEY_BYTES = 32 };

enum record_kind {
	RECORD_EVENT = 'e',
	RECORD_BLOCK = 'b', /* several events, what they repeat said once */
	RECORD_FRONT = 'f', /* raw lines in front of the first event of a part */
	RECORD_TAIL = 't',  /* raw lines from its last event on */
	RECORD_END = 'z',   /* the last of a part: what it was made of */
	/* of a chain, from the shuffle step on: shuffle.h, reduce.h */
	RECORD_CHAIN = 'c',    /* what is known of all its lines */
	RECORD_LINES = 'l',    /* some of them */
	RECORD_REQUESTS = 'r', /* what was made of them ... */
	RECORD_SEAM = 's',     /* ... and of those where it ends */
};

/* Bytes of any kind within a record, and back: borrowed, or of the arena. */
void record_add_text(struct buf *b, struct str s);
struct str record_text(struct str s, struct arena *arena);
/* The same behind a sum of them; false when it is not theirs. */
void record_add_sealed(struct buf *b, struct str s);
bool record_sealed(struct str s, struct arena *arena, struct str *bytes);

/* Key, kind and what follows, borrowed; false: no record. */
bool record_take(struct str line, struct record_key *key, enum record_kind *kind, struct str *body);
void record_begin(struct buf *b, const struct record_key *key, enum record_kind kind);

/* What the event before said, in the same part; zero in front of the first. */
struct record_last {
	uint64_t end, line;
	uint64_t ns;
};
void record_event(struct buf *b, struct record_last *last, const struct event *ev);
/* Strings borrow from the body and the arena. */
bool record_take_event(struct str *body, struct record_last *last, struct arena *arena,
		       struct event *ev);

/* Raw lines, and where in the part they begin: bytes and lines in front of them. */
struct record_raw {
	uint64_t offset, line;
	struct str lines;
};
void record_raw(struct buf *b, const struct record_raw *raw);
bool record_take_raw(struct str body, struct arena *arena, struct record_raw *raw);

struct record_end {
	uint32_t nr; /* events, in blocks or not, and pieces of raw lines */
	uint64_t bytes, lines;
};
void record_end(struct buf *b, const struct record_end *end, const struct losses *losses);
/* Adds to the losses. */
bool record_take_end(struct str body, struct record_end *end, struct losses *losses);
/* What was left out, behind whatever else a record ends with. */
void record_losses(struct buf *b, const struct losses *losses);
bool record_take_losses(struct str body, struct losses *losses);

/* Packs bodies of events into the body of a block, and back. Zero is an empty one. */
struct record_block {
	uint32_t nr;
	struct record_column
		*columns; /* what each had, and what of it is packed or not taken yet */
	size_t bytes;     /* packed so far */
};
void record_block_done(struct record_block *k);
void record_block_clear(struct record_block *k);
bool record_block_add(struct record_block *k, struct str body);
void record_block_write(const struct record_block *k, struct buf *b);
/* How many there are; take each with record_block_next, into a buffer that is written anew. The
 * body stays borrowed. */
bool record_block_open(struct record_block *k, struct str body, uint32_t *nr);
bool record_block_next(struct record_block *k, struct buf *event);

#endif
